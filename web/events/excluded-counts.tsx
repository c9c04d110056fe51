// How many events the project's settings left out in the last day, by rule.

import { figure } from '../../platform/words/figures.ts';
import type { ExclusionCount } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { ruleText } from '../event/rule-text.ts';

export function ExcludedCounts({ counts }: { counts: readonly ExclusionCount[] }) {
  if (counts.length === 0) return null;
  const byRule = new Map<string, bigint>();
  for (const { rule, events } of counts) byRule.set(rule, (byRule.get(rule) ?? 0n) + events);
  return (
    <div class="card">
      <h2>Left out by the settings, the last 24 hours</h2>
      <ul>
        {[...byRule].map(([rule, events]) => (
          <li key={rule}>
            <b>{figure(Number(events))}</b> {ruleText(rule, '')}
          </li>
        ))}
      </ul>
    </div>
  );
}
