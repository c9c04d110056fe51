// The figures of live views on a real engine: by receipt, each visitor once, beside the rows that were stored.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const nowMs = Date.UTC(2026, 10, 20, 0, 3);
const minuteMs = 60_000;
const projectId = `prj_${randomUUID()}`;
const engine = useEngine();
let service: ReadService;

/** Received so long ago; it occurred then, unless `fields` say otherwise. */
const row = (agoMs: number, distinctId: string, fields: Partial<StoredRow> = {}): StoredRow => {
  const receiveTimeMs = nowMs - agoMs;
  return storedRow({
    ...{ projectId, distinctId, occurTimeMs: receiveTimeMs, receiveTimeMs },
    ...fields,
  });
};
const from = (country: string) => ({ columns: { country } });
const bot = { bools: { $bot: true } };

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, clock: { nowMs: () => nowMs } });
  await storeRows(service.clickhouse, [
    // Of yesterday and of last year, and it came just now.
    row(3_000, 'late', { occurTimeMs: nowMs - dayMs, ...from('SE') }),
    row(4_000, 'imported', { occurTimeMs: nowMs - 500 * dayMs, ...from('SE') }),
    row(5 * minuteMs + 1, 'gone'),
    // It occurred just now by the sender's clock, and came an hour ago.
    row(60 * minuteMs, 'clock-ahead', { occurTimeMs: nowMs - 1 }),
    // A browser and the shop's server tell of one visitor, and a merge makes two ids one.
    row(minuteMs, 'anna', from('NO')),
    row(30_000, 'anna'),
    row(2 * minuteMs, 'anon-1', from('DE')),
    row(minuteMs, 'cookieless-x', { cookieless: true, ...from('NO') }),
    row(minuteMs, 'gpt', { ...from('US'), ...bot }),
    // One event of a bot makes nobody a bot.
    row(minuteMs, 'nowhere', bot),
    row(minuteMs + 1, 'nowhere'),
    row(1_000, 'deleted', from('FR')),
    row(1_000, 'stranger', { projectId: 'other' }),
  ]);
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'anna' },
    {
      ...{ projectId, distinctId: 'anon-1', named: false, owner: 'anna', root: 'anna' },
      wasClaimed: true,
    },
    { projectId, distinctId: 'deleted', deleted: true },
  ]);
});
afterAll(() => service?.stop());

it('counts visitors by the receipt of their events, each once and in one country', async () => {
  const { visitors, bots, countries, events } = await service
    .activity(projectId)
    .getLiveFigures({});
  expect({ visitors, bots }).toEqual({ visitors: 5n, bots: 1n });
  expect(countries.map((one) => [one.country, one.visitors, one.bots])).toEqual([
    ['NO', 2n, 0n],
    ['SE', 2n, 0n],
    ['', 1n, 0n],
    ['US', 0n, 1n],
  ]);
  expect(events).toEqual([]);
});

it('counts the events of the minute before a moment, second by second', async () => {
  const eventsUntil = timestampFromMs(nowMs - 2_500);
  const { events } = await service.activity(projectId).getLiveFigures({ eventsUntil });
  expect(events.length).toBe(60);
  // 60 s, 30 s, 4 s and 3 s ago: the minute begins 62.5 s ago.
  expect(events.flatMap((count, second) => (count > 0n ? [[second, Number(count)]] : []))).toEqual([
    [2, 5],
    [32, 1],
    [58, 1],
    [59, 1],
  ]);
});

it('answers zeros for a project of which nothing came', async () => {
  const eventsUntil = timestampFromMs(nowMs);
  const answer = await service.activity('empty').getLiveFigures({ eventsUntil });
  expect(answer).toMatchObject({ visitors: 0n, bots: 0n, countries: [] });
  expect(answer.events).toEqual(Array.from({ length: 60 }, () => 0n));
  expect(answer.looksUpPlaces).toBeUndefined();
});
