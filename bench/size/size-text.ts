// A size in words: the table of roles, and where each number is from.

import type { Table } from '../bench.ts';
import type { Measured } from './measured.ts';
import type { Asked, Size } from './roles.ts';

const count = (value: number): string => Math.round(value).toLocaleString('en-US');
/** Two digits that count. */
const short = (value: number): string =>
  value >= 100 ? count(value) : String(Number(value.toPrecision(2)));

export function sizeTable({ eventsPerSecond, days }: Asked, { rows, shards, roles }: Size): Table {
  const stored = `${count(rows)} events`;
  return {
    title: `${count(eventsPerSecond)} events/s for ${count(days)} days: ${stored}, ${shards} shard${shards === 1 ? '' : 's'}`,
    columns: ['role', 'cores busy', 'cores to have', 'memory GiB', 'disk GB', 'network MB/s'],
    rows: roles.map(({ role, cores, coresToHave, memoryGiB, diskGB, networkMB }) => [
      ...[role, short(cores), count(coresToHave), short(memoryGiB)],
      ...[diskGB === 0 ? '' : short(diskGB), short(networkMB)],
    ]),
  };
}

export function sizeLines(
  { eventsPerSecond }: Asked,
  { roles, rows }: Size,
  { halfLoad, halfLoadLag, singleRequests, rewrites }: Measured,
): string[] {
  const single = (eventsPerSecond * singleRequests.value) / 1e6;
  const isOneMachine = eventsPerSecond <= halfLoad.value;
  const largest = rewrites.at(-1)?.rows ?? 0;
  return [
    ...(isOneMachine
      ? [
          `One machine with 2 cores took ${count(halfLoad.value)} events/s, its senders included, with a lag of ${count(halfLoadLag.value)} ms (p99): ${halfLoad.from}.`,
        ]
      : [
          `A shard for each ${count(halfLoad.value)} events/s: ${halfLoad.from}, half of what 2 cores take.`,
        ]),
    `Where each request has one event, ingest has ${short(single)} cores busy: ${singleRequests.from}.`,
    ...(rows > largest
      ? [`Merges were simulated up to ${count(largest)} rows of a table, and not beyond.`]
      : []),
    'Broker and ClickHouse are one copy: three copies take three times as much.',
    'Readers, webhooks and replicas are not in it: docs/scale.md.',
    ...roles.flatMap(({ role, from }) => ['', `${role}:`, ...from.map((line) => `  ${line}`)]),
  ];
}
