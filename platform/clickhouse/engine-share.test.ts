// Looks at counters, of answers that the test gives and of a real engine.

import { expect, it } from 'vitest';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { createLog } from '../log.ts';
import { createClickHouse } from './clickhouse.ts';
import { EngineShare } from './engine-share.ts';
import type { RowReader } from './select-rows.ts';

const engine = useEngine();

it('counts statements that wait for the processor longer than they have it, for a while', async () => {
  let nowMs = 0;
  let answer: number[] | undefined;
  let looks = 0;
  const clickhouse: RowReader = {
    async select(_, onRow) {
      looks++;
      if (answer === undefined) throw new Error('no access');
      onRow(JSON.stringify(answer));
    },
  };
  const share = new EngineShare({ clickhouse, nowMs: () => nowMs });
  const look = async (row: number[] | undefined) => {
    nowMs += 2_000;
    answer = row;
    await share.look();
    return share.isStarved();
  };
  expect(await look([10, 4, 5])).toBe(true);
  expect(await look([10, 5, 4])).toBe(false);
  expect(await look([10, 0.9, 0])).toBe(true);
  // Nothing runs, or the counters are kept from us.
  expect(await look([0, 0, 0])).toBe(false);
  expect(await look(undefined)).toBe(false);
  expect(await look([10, 4, 5])).toBe(true);
  expect(looks).toBe(6);
  nowMs += 1_999;
  await share.look();
  expect([looks, share.isStarved()]).toEqual([6, true]);
  nowMs += 2_001;
  expect(share.isStarved()).toBe(false);
});

it('reads the counters of the engine', async () => {
  const clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 4 });
  const rows: unknown[] = [];
  const told: RowReader = {
    select: (select, onRow) =>
      clickhouse.select(select, (text) => {
        rows.push(JSON.parse(text));
        return onRow(text);
      }),
  };
  let nowMs = 0;
  const share = new EngineShare({ clickhouse: told, nowMs: () => nowMs });
  // It runs and has no use for the processor.
  const ending = new AbortController();
  const sql = 'SELECT sleepEachRow(1) FROM numbers(1000) SETTINGS max_block_size = 1';
  const sleeping = clickhouse.select(
    { sql, params: {}, settings: {}, signal: ending.signal },
    () => true,
  );
  const isStarved = async () => {
    nowMs += 2_000;
    await share.look();
    return share.isStarved();
  };
  await expect.poll(isStarved).toBe(true);
  expect(rows.at(-1)).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
  ending.abort();
  await Promise.allSettled([sleeping]);
  await clickhouse.close();
});
