// Fills the copy of a table that is made anew (remake-table.ts), some days at a time. Each insert is one block under a
// token of its own: it is there as a whole or not at all, and adds nothing when it is repeated after a kill. So its
// rows must be the same each time: the table has no writer, and its merges change neither days, nor keys, nor sums.

import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import type { TellDay } from './day-log.ts';

interface CopiedTable {
  day: string;
  /** Grows with the rows, and no merge changes it. */
  size: string;
  /** Equal where two tables have the same rows of some days; no merge changes it. */
  content: string;
  /** Whose rows stay together. */
  key: string;
  /** Leads to neighbouring rows by the order key: a slice of a long day reads a slice of it. */
  hash?: string;
}

const tables: Record<string, CopiedTable> = {
  events: {
    day: 'toDate(occur_time)',
    size: 'sum(1 + intDiv(byteSize(string_properties), 512))',
    content: 'count()',
    key: 'event_id',
    hash: 'profile_key',
  },
  profile_days: { day: 'day', size: 'sum(events)', content: 'sum(events)', key: 'profile_key' },
  visits: { day: 'day', size: 'sum(events)', content: 'sum(events)', key: 'session_id' },
  visit_entries: {
    day: 'day',
    size: 'count()',
    content: 'uniqExact(project_id, day, session_id)',
    key: 'session_id',
  },
};

/** One block of events takes some 100 MB at this size. */
const largestBlock = 100_000;
/** Nothing ends a block before its insert ends. */
const oneBlock = {
  max_threads: 1,
  max_insert_threads: '1',
  min_insert_block_size_rows: '1000000000',
  min_insert_block_size_bytes: '0',
  max_partitions_per_insert_block: '0',
  insert_deduplicate: 1,
  max_execution_time: 0,
} as const;

interface Copy {
  /** The table, and its partition key. */
  from: string;
  key: string;
  to: string;
}

/** Nothing once another process has exchanged both: the table would be copied into the old one. */
const unlessExchanged = `(SELECT partition_key FROM system.tables
  WHERE database = currentDatabase() AND name = {from:String}) = {key:String}`;

/** Gives the copy the rows that it lacks; false where it has others afterwards. */
export async function copyRows(
  clickhouse: DatabaseClient,
  copy: Copy,
  tellDay: TellDay = () => {},
): Promise<boolean> {
  const { from, to, key } = copy;
  const copied = tables[from];
  if (copied === undefined) throw new Error(`sql: nothing says how ${from} is copied`);
  const { day, content } = copied;
  const spans = await spansOf(clickhouse, from, copied);
  for (const [done, days] of spans.entries()) {
    const where = `${day} BETWEEN '${days.first}' AND '${days.last}'`;
    const contentOf = async (table: string) =>
      (await ask(clickhouse, `SELECT ${content} FROM ${table} WHERE ${where}`))[0]?.[0];
    const wanted = await contentOf(from);
    if ((await contentOf(to)) === wanted) continue;
    for (const slice of await slicesOf(clickhouse, { from, copied, where, size: days.size })) {
      tellDay({ day: days.first, done, of: spans.length });
      await clickhouse.command({
        query: `INSERT INTO ${to} SELECT * FROM ${from}
          WHERE ${[where, ...slice, unlessExchanged].join(' AND ')}`,
        query_params: { from, key },
        clickhouse_settings: {
          ...oneBlock,
          insert_deduplication_token: [days.first, days.last, ...slice].join(' '),
        },
      });
    }
    if ((await contentOf(to)) !== wanted) return false;
  }
  return true;
}

interface Span {
  first: string;
  last: string;
  size: number;
}

/** Neighbouring days that fit into one block; a day that does not is a span of its own. */
async function spansOf(
  clickhouse: DatabaseClient,
  table: string,
  { day, size }: CopiedTable,
): Promise<Span[]> {
  const query = `SELECT toString(${day}) AS one, ${size} FROM ${table} GROUP BY one ORDER BY one`;
  const spans: Span[] = [];
  for (const [first = '', text] of await ask(clickhouse, query)) {
    const ofDay = Number(text);
    const before = spans.at(-1);
    if (before !== undefined && before.size + ofDay <= largestBlock) {
      before.last = first;
      before.size += ofDay;
    } else spans.push({ first, last: first, size: ofDay });
  }
  return spans;
}

interface Sliced {
  from: string;
  copied: CopiedTable;
  where: string;
  size: number;
}

/** The conditions of each slice of some days, by keys: each row is in one. */
async function slicesOf(clickhouse: DatabaseClient, sliced: Sliced): Promise<string[][]> {
  const { from, copied, where, size } = sliced;
  if (copied.hash === undefined) return byKey(copied, size);
  const bits = Math.ceil(Math.log2(Math.max(1, size / largestBlock)));
  if (bits === 0) return byKey(copied, size);
  const shift = 64n - BigInt(bits);
  const sizes = await ask(
    clickhouse,
    `SELECT toString(bitShiftRight(${copied.hash}, ${shift})) AS slice, ${copied.size} FROM ${from}
      WHERE ${where} GROUP BY slice ORDER BY slice`,
  );
  return sizes.flatMap(([slice = '0', ofSlice]) => {
    const first = BigInt(slice) << shift;
    const within = `${copied.hash} BETWEEN ${first} AND ${first + (1n << shift) - 1n}`;
    return byKey(copied, Number(ofSlice)).map((rest) => [within, ...rest]);
  });
}

/** Of one profile there may be more than a block, so the hash alone does not bound a slice. */
function byKey({ key }: CopiedTable, size: number): string[][] {
  const slices = Math.ceil(size / largestBlock);
  if (slices <= 1) return [[]];
  return Array.from({ length: slices }, (_, slice) => [
    `cityHash64(${key}) % ${slices} = ${slice}`,
  ]);
}

async function ask(clickhouse: DatabaseClient, query: string): Promise<string[][]> {
  const result = await clickhouse.query({
    query,
    format: 'JSONCompactEachRow',
    clickhouse_settings: { max_execution_time: 0 },
  });
  return result.json<string[]>();
}
