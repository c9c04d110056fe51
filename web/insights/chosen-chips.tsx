// What the question counts alone, in sight beside its days: its conditions and its segments. Its fields change them.

import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { fromPropertyFilter, inWords } from '../filter/condition.ts';
import { nameOfSegment, useSegments } from '../filter/known-segments.ts';

/** Nothing where all are counted. */
export function ChosenChips({ projectId, spec }: { projectId: string; spec: InsightQuerySpec }) {
  const { filterGroups, filterGroupsOperator, segments, notInSegments } = spec;
  const hasSegments = segments.length + notInSegments.length > 0;
  const known = useSegments(hasSegments ? projectId : undefined);
  const groups = filterGroups.map(({ filters, operator }) =>
    filters.map((filter) => inWords(fromPropertyFilter(filter))).join(wordOf(operator)),
  );
  const isAnyGroup = filterGroupsOperator === LogicalOperator.OR && groups.length > 1;
  const texts = [
    ...(isAnyGroup ? [groups.join(wordOf(filterGroupsOperator))] : groups),
    ...segments.map((id) => `in ${nameOfSegment(known, id)}`),
    ...notInSegments.map((id) => `not in ${nameOfSegment(known, id)}`),
  ];
  if (texts.length === 0) return null;
  return (
    <ul class="filters" aria-label="Filters">
      {texts.map((text, place) => (
        <li class="chip" key={`${place}`}>
          <span class="clip" title={text}>
            {text}
          </span>
        </li>
      ))}
    </ul>
  );
}

function wordOf(operator: LogicalOperator): string {
  return operator === LogicalOperator.OR ? ' or ' : ' and ';
}
