// Sessions against the session model, with a simulated table. crash.test.ts has them on a real engine.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hourMs } from '../../platform/clock.ts';
import { SessionModel } from '../../test/harness/models/session-model.ts';
import { SessionlessTable } from '../build/sessionless-rows.ts';
import type { SessionlessRows } from '../build/thread-messages.ts';
import { formatUuid } from '../build/uuid.ts';
import type { StoredSession } from './session-memory.ts';
import { type FindSessions, Sessions, sessionIdOf } from './sessions.ts';

const minute = 60_000;
const midnight = Date.UTC(2026, 10, 20);

interface Event {
  distinctId: string;
  otherId: string;
  timeMs: number;
}

function at(minutes: number, distinctId = 'a', otherId = ''): Event {
  return { distinctId, otherId, timeMs: midnight + Math.round(minutes * minute) };
}

function rowsOf(events: readonly Event[]): SessionlessRows {
  const rows = new SessionlessTable();
  for (const [row, { distinctId, otherId, timeMs }] of events.entries()) {
    rows.add(row, 'p', distinctId, otherId, timeMs);
  }
  return rows.snapshot();
}

function idsOf(bytes: Uint8Array): string[] {
  return Array.from({ length: bytes.length / 16 }, (_, row) =>
    formatUuid(bytes.subarray(row * 16, row * 16 + 16)),
  );
}

const nothing: FindSessions = async () => [];

/** Assigns batches in order, with every session in memory. */
async function assign(...batches: Event[][]): Promise<string[][]> {
  const sessions = new Sessions({ find: nothing });
  sessions.load([], Number.NEGATIVE_INFINITY);
  const ids: string[][] = [];
  for (const batch of batches) {
    ids.push(idsOf(await sessions.assign(rowsOf(batch), undefined)));
    sessions.done();
  }
  return ids;
}

/** The session of each event as a letter, 'a' for the first session: 'aab'. */
async function letters(...batches: Event[][]): Promise<string> {
  const order: string[] = [];
  return (await assign(...batches))
    .flat()
    .map((id) => {
      if (!order.includes(id)) order.push(id);
      return String.fromCharCode('a'.charCodeAt(0) + order.indexOf(id));
    })
    .join('');
}

describe('a session', () => {
  it('goes on for half an hour after its last event, to the millisecond', async () => {
    expect(await letters([at(600), at(630), at(660)])).toBe('aaa');
    expect(await letters([at(600)], [at(630)])).toBe('aa');
    expect(await letters([at(600), { ...at(630), timeMs: at(630).timeMs + 1 }])).toBe('ab');
  });

  it('takes in an event up to half an hour before its first one, which becomes its first', async () => {
    expect(await letters([at(600), at(570), at(540), at(509)])).toBe('aaab');
  });

  it('is the nearer one where two are in reach, and never merges with another', async () => {
    expect(await letters([at(600), at(650), at(630)])).toBe('abb');
    expect(await letters([at(600), at(650), at(620)])).toBe('aba');
    expect(await letters([at(600), at(650), at(620), at(630), at(600), at(650)])).toBe('abaaab');
  });

  it('belongs to one visitor of one project', async () => {
    expect(await letters([at(600, 'a'), at(600, 'b'), at(601, 'a')])).toBe('aba');
    const rows = new SessionlessTable();
    rows.add(0, 'p', 'a', '', midnight);
    rows.add(1, 'q', 'a', '', midnight);
    const sessions = new Sessions({ find: nothing });
    const [p, q] = idsOf(await sessions.assign(rows.snapshot(), undefined));
    expect(p).not.toBe(q);
  });

  it('keeps the id that its first event gave it', async () => {
    const [[first, second] = []] = await assign([at(600), at(590)]);
    expect(first).toBe(sessionIdOf('p\0a', at(600).timeMs));
    expect(second).toBe(first);
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('is not extended by dropped events', async () => {
    const sessions = new Sessions({ find: nothing });
    const events = [at(600), at(625), at(650)];
    const [a, dropped, c] = idsOf(await sessions.assign(rowsOf(events), Uint8Array.of(0b010)));
    expect(dropped).toBe('00000000-0000-0000-0000-000000000000');
    expect(c).not.toBe(a);
  });
});

describe('over midnight', () => {
  it('a session goes on with the id of the day before', async () => {
    expect(await letters([at(-10, 'old'), at(5, 'new', 'old'), at(34, 'new'), at(65, 'new')])).toBe(
      'aaab',
    );
    expect(await letters([at(-10, 'old')], [at(5, 'new', 'old')], [at(34, 'new')])).toBe('aaa');
  });

  it('a session ends after half an hour, or where the salt of the day before is gone', async () => {
    expect(await letters([at(-10, 'old'), at(21, 'new', 'old')])).toBe('ab');
    expect(await letters([at(-10, 'old'), at(5, 'new')])).toBe('ab');
  });

  it('a late event of the day before joins the session that has begun since', async () => {
    expect(await letters([at(5, 'new', 'old'), at(-10, 'old', 'new'), at(-35, 'old')])).toBe('aaa');
  });
});

interface TableRow extends Event {
  seq: number;
  id: string;
}

/** The sessions that a table of rows has up to a sequence. */
function stored(
  table: readonly TableRow[],
  hwm: number,
  isAsked: (row: TableRow) => boolean,
): StoredSession[] {
  const found = new Map<
    string,
    { id: string; firstMs: number; lastMs: number; visitors: Set<string> }
  >();
  for (const row of table) {
    if (row.seq > hwm || !isAsked(row)) continue;
    const session = found.get(row.id) ?? {
      id: row.id,
      firstMs: row.timeMs,
      lastMs: row.timeMs,
      visitors: new Set<string>(),
    };
    session.firstMs = Math.min(session.firstMs, row.timeMs);
    session.lastMs = Math.max(session.lastMs, row.timeMs);
    session.visitors.add(`p\0${row.distinctId}`);
    found.set(row.id, session);
  }
  return [...found.values()].map((session) => ({ ...session, visitors: [...session.visitors] }));
}

describe('a look-up of stored sessions', () => {
  /** The questions that a batch asks where memory has no sessions before `completeFromMs`. */
  async function lookUpsOf(events: readonly Event[], completeFromMs: number) {
    const asked: { visitors: readonly string[]; fromMs: number; toMs: number }[] = [];
    const find: FindSessions = async ({ hours, fromMs, toMs }) => {
      asked.push({ visitors: [...hours.keys()], fromMs, toMs });
      return [];
    };
    const sessions = new Sessions({ find });
    sessions.load([], completeFromMs);
    await sessions.assign(rowsOf(events), undefined);
    return asked;
  }

  it('is as narrow with an event of the year 2000 beside it', async () => {
    const longAgo: Event = { distinctId: 'c', otherId: '', timeMs: Date.UTC(2000, 0, 1, 12) };
    const latest = [at(590, 'a'), at(580, 'b'), at(640, 'known')];
    const near = { visitors: ['p\0a', 'p\0b'], fromMs: at(550).timeMs, toMs: at(620).timeMs };
    const far = {
      visitors: ['p\0c'],
      fromMs: longAgo.timeMs - 30 * minute,
      toMs: longAgo.timeMs + 30 * minute,
    };
    expect(await lookUpsOf(latest, at(605).timeMs)).toEqual([near]);
    expect(await lookUpsOf([longAgo, ...latest], at(605).timeMs)).toEqual([near, far]);
  });

  it('is one of four at most, and the three of the newest times span a day and an hour at most', async () => {
    const everyDay = Array.from({ length: 9_000 }, (_, day) => at(-1_380 * day, `v${day}`));
    const asked = await lookUpsOf(everyDay, at(605).timeMs);
    expect(asked).toHaveLength(4);
    for (const { fromMs, toMs } of asked.slice(0, 3)) {
      expect(toMs - fromMs).toBeLessThanOrEqual(25 * 60 * minute);
    }
    expect(new Set(asked.flatMap(({ visitors }) => visitors)).size).toBe(9_000);
  });
});

it('joins its sessions where memory is full and the batch before it is stored during its look-ups', async () => {
  const held: (() => void)[] = [];
  const find: FindSessions = () => new Promise((resolve) => held.push(() => resolve([])));
  const sessions = new Sessions({ find, maxSessions: 2 });
  sessions.load([], at(500).timeMs);
  const visitors = ['a', 'b', 'c', 'd'];
  const first = visitors.map((visitor, index) => at(600 + index, visitor));
  const ids = idsOf(await sessions.assign(rowsOf(first), undefined));
  const longAgo = at(0, 'z');
  // Asked before the first batch was stored, the table has none of its rows.
  const next = sessions.assign(rowsOf([at(605, 'a'), longAgo]), undefined);
  sessions.done();
  for (const answer of held) answer();
  expect(idsOf(await next)[0]).toBe(ids[0]);
});

describe('any stream of events', () => {
  const event = fc
    .record({
      who: fc.integer({ min: 0, max: 2 }),
      // Two hours on either side of midnight, where ids change.
      minutes: fc.integer({ min: -120, max: 120 }),
      hasSalt: fc.boolean(),
      // Most events are of one night, others of earlier ones: more nights than one batch has look-ups.
      daysAgo: fc.constantFrom(0, 0, 0, 1, 2, 3, 40, 9_000),
    })
    .map(({ who, minutes, hasSalt, daysAgo }): Event => {
      const [own, other] = minutes < 0 ? ['old', 'new'] : ['new', 'old'];
      const isAtMidnight = Math.abs(minutes) <= 30 && hasSalt;
      const time = minutes - daysAgo * 1_440;
      return at(time, `${own}${who}`, isAtMidnight ? `${other}${who}` : '');
    });
  const batch = fc.record({
    events: fc.array(event, { maxLength: 8 }),
    // The batch is stored at once, after a crash before any row was stored, or after a crash once rows were stored.
    crash: fc.constantFrom('none', 'none', 'before', 'after'),
    // The stored sessions are loaded after this many batches of a life.
    loadedAfter: fc.integer({ min: 0, max: 3 }),
  });

  it('gets the same sessions with any memory, through restarts, late look-ups and crashes', async () => {
    const life = fc.asyncProperty(
      fc.array(batch, { maxLength: 12 }),
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: -130, max: 150 }),
      async (batches, maxSessions, loadFrom) => {
        const model = new SessionModel();
        const table: TableRow[] = [];
        let hwm = 0;
        const find: FindSessions = async ({ hours, fromMs, toMs }) =>
          stored(table, hwm, ({ distinctId, timeMs }) => {
            const isAsked = hours.get(`p\0${distinctId}`)?.has(Math.floor(timeMs / hourMs));
            return isAsked === true && timeMs >= fromMs && timeMs <= toMs;
          });
        let load: (() => void) | undefined;
        const start = () => {
          const sessions = new Sessions({ find, maxSessions });
          const fromMs = at(loadFrom).timeMs;
          const found = stored(table, hwm, (row) => row.timeMs >= fromMs);
          load = () => sessions.load(found, fromMs);
          return sessions;
        };
        let sessions = start();
        let age = 0;
        for (const [index, { events, crash, loadedAfter }] of batches.entries()) {
          const seq = index + 1;
          if (age++ >= loadedAfter) {
            load?.();
            load = undefined;
          }
          const expected = events.map(({ distinctId, otherId, timeMs }) =>
            model.assign(`p\0${distinctId}`, otherId === '' ? undefined : `p\0${otherId}`, timeMs),
          );
          let ids = idsOf(await sessions.assign(rowsOf(events), undefined));
          expect(ids).toEqual(expected);
          const rows = ids.map((id, row) => ({ ...at(0), ...events[row], seq, id }));
          if (crash !== 'none') {
            // The rows of the pending batch may be in the table, and must not count.
            if (crash === 'after') table.push(...rows);
            sessions = start();
            age = 0;
            ids = idsOf(await sessions.assign(rowsOf(events), undefined));
            expect(ids).toEqual(expected);
          }
          if (crash !== 'after') table.push(...rows);
          hwm = seq;
          sessions.done();
        }
      },
    );
    await fc.assert(life, { numRuns: 1_500 });
  });

  it('keeps a bounded number of sessions besides the batches in hand', async () => {
    const sessions = new Sessions({ find: nothing, maxSessions: 100 });
    sessions.load([], Number.NEGATIVE_INFINITY);
    for (let turn = 0; turn < 50; turn++) {
      const events = Array.from({ length: 40 }, (_, n) => at(turn * 10, `v${turn}.${n}`));
      await sessions.assign(rowsOf(events), undefined);
      sessions.done();
      expect(sessions.size).toBeLessThanOrEqual(140);
    }
  });
});
