// What was refused lately, by which rule: never a value of an event. It grows while one looks.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { figure, plural } from '../../platform/words/figures.ts';
import type { Refusal, RefusalCount } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { narrow, useMedia } from '../browser/media.ts';
import { Sparkline } from '../charts/sparkline.tsx';
import { inProject } from '../client.ts';
import { methodName, ruleText } from '../event/rule-text.ts';
import { activity, openFeed } from '../feed/live-feed.ts';
import { useResource } from '../resource.ts';
import { address, setQuery } from '../router.ts';
import { currentZone, formatTime, Time, toDate } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { ExcludedCounts } from './excluded-counts.tsx';

const hourMs = 3_600_000;
const hours = 24;

export function RefusedTab({ projectId }: { projectId: string }) {
  const health = useResource(`health ${projectId}`, (end) =>
    activity.ingestHealth({ pageSize: 1 }, inProject(projectId, end)),
  );
  const [isBehind, setBehind] = useState(false);
  useEffect(() => {
    const { feed, end } = openFeed(projectId);
    const stop = feed.onTotals(({ refused = 0n }) => {
      if (refused > 0n) setBehind(true);
    });
    return () => {
      stop();
      end();
    };
  }, [projectId]);
  // An answer that is on its way comes first: where refusals never stop, it would be ended each second.
  useEffect(() => {
    if (!isBehind || health.isLoading) return;
    setBehind(false);
    health.reload();
  }, [isBehind, health.isLoading]);
  const rule = address.value.query.get('rule') ?? '';
  const isNarrow = useMedia(narrow);
  if (!health.data)
    return health.error ? (
      <Fault cause={health.error} retry={health.reload} />
    ) : (
      <Loading of="refusals" />
    );
  const { refusals, counts, exclusions, since, untold = 0n } = health.data;
  const shown = rule ? refusals.filter((one) => one.rule === rule) : refusals;
  const known = since ? knownSince(toDate(since)) : '';
  if (counts.length === 0 && refusals.length === 0)
    return (
      <div class="empty">
        <h2>Nothing was refused</h2>
        <p>Every request with a key of this project was taken. {known}</p>
        <ExcludedCounts counts={exclusions} />
        <Fault cause={health.error} retry={health.reload} />
      </div>
    );
  return (
    <section class="stack">
      <Fault cause={health.error} retry={health.reload} />
      <Rules counts={counts} chosen={rule} />
      <ExcludedCounts counts={exclusions} />
      <div class="row between">
        <h2>{rule ? `Refused by ${rule}` : 'The last 200 requests'}</h2>
        {rule ? (
          <button type="button" onClick={() => setQuery({ rule: undefined })}>
            All rules
          </button>
        ) : null}
      </div>
      <Table
        label="Refused requests, newest first"
        rows={shown}
        columns={isNarrow ? fewColumns : columns}
        rowKey={keyOf}
        height="min(60vh, 520px)"
      />
      <p class="hint">
        {known}{' '}
        {untold > 0n ? `${plural(untold, 'refusal')} more came faster than they are told.` : ''} No
        value of an event is kept.
      </p>
    </section>
  );
}

function knownSince(time: Date): string {
  return `Known since ${formatTime(time, 'short')} (${currentZone()}), kept in memory.`;
}

/** Refusals have no name of their own: the object is its own. */
const names = new WeakMap<Refusal, string>();
let lastName = 0;
function keyOf(refusal: Refusal): string {
  const known = names.get(refusal);
  if (known) return known;
  lastName += 1;
  names.set(refusal, String(lastName));
  return String(lastName);
}

function place({ field, eventIndex }: Refusal): string {
  return eventIndex === undefined ? field : `events[${eventIndex}]${field ? `.${field}` : ''}`;
}

const time: Column<Refusal> = {
  name: 'Time',
  width: '84px',
  cell: ({ time: at }) => <Time at={at} as="clock" />,
};

const why: Column<Refusal> = {
  name: 'Why',
  width: 'minmax(160px, 3fr)',
  cell: (refusal) => {
    const text = ruleText(refusal.rule, place(refusal));
    return <span title={text}>{text}</span>;
  },
};

const fewColumns: readonly Column<Refusal>[] = [time, why];

const columns: readonly Column<Refusal>[] = [
  time,
  {
    name: 'Method',
    width: '104px',
    cell: ({ method }) => <span title={method}>{methodName(method)}</span>,
  },
  { name: 'Rule', width: 'minmax(100px, 1.5fr)', cell: ({ rule }) => <code>{rule}</code> },
  why,
  { name: 'Event', width: 'minmax(72px, 1fr)', cell: ({ kind }) => kind || '–' },
  { name: 'Sender', width: 'minmax(72px, 1fr)', cell: ({ sdk }) => sdk || '–' },
];

type RuleSum = { rule: string; requests: number; byHour: number[] };

function sums(counts: readonly RefusalCount[], now: number): RuleSum[] {
  const byRule = new Map<string, RuleSum>();
  const thisHour = Math.floor(now / hourMs);
  for (const { rule, hour, requests } of counts) {
    const sum = byRule.get(rule) ?? {
      rule,
      requests: 0,
      byHour: Array.from({ length: hours }, () => 0),
    };
    sum.requests += Number(requests);
    const ago = hour ? thisHour - Math.floor(toDate(hour).getTime() / hourMs) : 0;
    const at = hours - 1 - ago;
    if (at >= 0 && at < hours) sum.byHour[at] = (sum.byHour[at] ?? 0) + Number(requests);
    byRule.set(rule, sum);
  }
  return [...byRule.values()].sort((a, b) => b.requests - a.requests);
}

function Rules({ counts, chosen }: { counts: readonly RefusalCount[]; chosen: string }) {
  const rows = useMemo(() => sums(counts, Date.now()), [counts]);
  return (
    <div class="card refused-rules">
      <h2>By rule, the last 24 hours</h2>
      <ol>
        {rows.map(({ rule, requests, byHour }) => (
          <li key={rule}>
            <button
              type="button"
              class="quiet"
              aria-pressed={rule === chosen}
              onClick={() => setQuery({ rule: rule === chosen ? undefined : rule })}
            >
              <code class="clip">{rule}</code>
              <span class="refused-spark">
                <Sparkline values={byHour} />
              </span>
              <b>{figure(requests)}</b>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
