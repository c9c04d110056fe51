import { expect, it } from 'vitest';
import { bodyOf, type HeldEvent, TextBlocks } from './held-event.ts';
import { createSessionWriter, createVisits } from './visits.ts';

const minuteMs = 60_000;
const visitsAt = (minutes: readonly number[], person = 'a'): string[] => {
  const visitOf = createVisits((who, startMs) => `${who} ${startMs / minuteMs}`);
  return minutes.map((minute) => visitOf(person, minute * minuteMs));
};

it('ends a visit after 30 minutes without an event, to the millisecond', () => {
  expect(visitsAt([0, 30, 60, 90 + 1 / minuteMs])).toEqual([
    ...['a 0', 'a 0', 'a 0'],
    `a ${90 + 1 / minuteMs}`,
  ]);
});

it('takes events that are out of order by less', () => {
  expect(new Set(visitsAt([10, 0, 39])).size).toBe(1);
  expect(new Set(visitsAt([100, 0])).size).toBe(2);
});

it('writes the visit into the events that have none, the same each time, and another of another project', () => {
  const texts = new TextBlocks();
  const event = (timeMs: number, hasSession: boolean): HeldEvent =>
    texts.hold({
      ...{ text: '{"eventId":"x"}', eventId: 'x', kind: 'k', distinctId: 'ada' },
      ...{ timeMs, hasSession },
    });
  const project = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  const write = (projectId: string): unknown[] => {
    const events = [event(0, false), event(1, false), event(2, true)];
    createSessionWriter(projectId, 'mixpanel')(events);
    return JSON.parse(bodyOf(events).toString()).events;
  };
  const [first, second, third] = write(project);
  expect(first).toEqual({ sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/), eventId: 'x' });
  expect(second).toEqual(first);
  expect(third).toEqual({ eventId: 'x' });
  expect(write(project)[0]).toEqual(first);
  expect(write('6ba7b811-9dad-11d1-80b4-00c04fd430c8')[0]).not.toEqual(first);
});
