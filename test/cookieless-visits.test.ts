// Visits of people without an identity, end to end on the real stack: stored with the id of their day and a session,
// counted among events and sessions and never among persons, also after kills, restarts and repetitions.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  batchCreate,
  call,
  eventually,
  listActivity,
  newEvent,
  rows,
} from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const minuteMs = 60_000;
const startMs = Date.now();

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack.stop();
});

interface Visit {
  eventId: string;
  kind: string;
  occurTime: string;
  cookieless: true;
}

function visit(minutesAgo: number): Visit {
  const occurTime = new Date(startMs - minutesAgo * minuteMs).toISOString();
  return { eventId: randomUUID(), kind: 'page_view', occurTime, cookieless: true };
}

const send = (events: readonly object[], userAgent: string) =>
  batchCreate(stack, events, { headers: { 'user-agent': userAgent } });

interface Row {
  eventId: string;
  distinctId: string;
  cookieless: boolean;
  sessionId: string;
}

const stored = () =>
  rows<Row>(
    stack.clickhouseUrl,
    `SELECT toString(event_id) AS eventId, distinct_id AS distinctId, cookieless, toString(session_id) AS sessionId
     FROM events WHERE cookieless`,
  );

async function sessionsOf(...events: Visit[]): Promise<(string | undefined)[]> {
  const found = await stored();
  return events.map(({ eventId }) => found.find((row) => row.eventId === eventId)?.sessionId);
}

const untilStored = (count: number) => eventually(stored, (found) => found.length >= count);

const [early, late, last] = [visit(50), visit(10), visit(0)];
const others = visit(0);

describe('visitors without an identity', () => {
  it('are told apart, their visits end after half an hour', async () => {
    const identified = newEvent({ distinctId: 'known' });
    expect((await send([late, identified, last, early], 'one')).body).toEqual({ accepted: 4 });
    expect((await send([others], 'two')).body).toEqual({ accepted: 1 });
    const found = await untilStored(4);
    expect(found.every((row) => /^cookieless-[\w-]{22}$/.test(row.distinctId))).toBe(true);
    const [first, second, third, fourth] = await sessionsOf(early, late, last, others);
    expect(third).toBe(second);
    expect(new Set([first, second, fourth]).size).toBe(3);
    // An id is a day's: there are two where the test runs over midnight.
    const days = new Set([early, late, last].map(({ occurTime }) => occurTime.slice(0, 10))).size;
    expect(new Set(found.map((row) => row.distinctId)).size).toBe(days + 1);
  });

  it('are in the feed and its totals, and are nobody’s profile', async () => {
    const { events } = await eventually(
      () => listActivity(stack, {}),
      (page) => page.events.length === 5,
    );
    const anonymous = events.filter(({ profileId }) => !profileId);
    expect(anonymous).toHaveLength(4);
    const [session] = await sessionsOf(late);
    const ofSession = await listActivity(stack, { sessionId: session ?? '' });
    expect(ofSession.events.map(({ eventId }) => eventId).toSorted()).toEqual(
      [late.eventId, last.eventId].toSorted(),
    );
    const persons =
      'SELECT uniqExact(profile_id) AS persons, sum(total_events) AS events FROM profile_activity';
    await eventually(
      () => rows<{ persons: number; events: number }>(stack.clickhouseUrl, persons),
      ([found]) => found?.persons === 1 && found.events === 1,
    );
  });

  it('keep their visits when the service is killed and starts again', async () => {
    stack.kill9('service');
    stack = await stack.restart();
    const between = visit(15);
    expect((await send([between], 'one')).body).toEqual({ accepted: 1 });
    await untilStored(5);
    const [joined, open] = await sessionsOf(between, late);
    expect(joined).toBe(open);
  });

  it('are not counted twice, nor moved to another visit, by a repetition', async () => {
    const before = await stored();
    const after = visit(5);
    expect((await send([early, late, last, after], 'one')).body).toEqual({ accepted: 4 });
    const found = await untilStored(6);
    expect(found).toHaveLength(6);
    for (const row of before) expect(found).toContainEqual(row);
  });

  it('are dropped, and reported as dropped, where their day is out of range', async () => {
    const answer = await send([visit(3 * 1_440), newEvent({ distinctId: 'known' })], 'one');
    expect(answer.body).toEqual({
      accepted: 1,
      dropped: 1,
      droppedByReason: { day_out_of_range: 1 },
    });
    await eventually(
      () => listActivity(stack, {}),
      (page) => page.events.length === 8,
    );
    expect(await stored()).toHaveLength(6);
  });
});

describe('a user of the short shape', () => {
  it('who names no session has visits too', async () => {
    const events = [50, 10, 0].map((minutes, index) => ({
      name: `step_${index}`,
      timestamp: new Date(startMs - minutes * minuteMs).toISOString(),
      properties: { distinct_id: 'short' },
    }));
    const path = '/events.v1.EventsService/BatchCreate';
    const answer = await call(stack.baseUrl, path, stack.publicKey, { events });
    expect(answer.body).toEqual({ eventsCreated: 3 });
    const [visits] = await eventually(
      () =>
        rows<{ events: number; sessions: string[] }>(
          stack.clickhouseUrl,
          `SELECT count() AS events, groupArray(toString(session_id)) AS sessions
           FROM (SELECT * FROM events WHERE distinct_id = 'short' ORDER BY occur_time)`,
        ),
      ([found]) => found?.events === 3,
    );
    const [first, second, third] = visits?.sessions ?? [];
    expect(third).toBe(second);
    expect(first).not.toBe(second);
    const sessions = `SELECT uniqExactMerge(sessions) AS sessions FROM profile_activity
      WHERE profile_id = millraceProfileHash('${stack.projectId}', 'short')`;
    await eventually(
      () => rows<{ sessions: number }>(stack.clickhouseUrl, sessions),
      ([found]) => found?.sessions === 2,
    );
  });
});
