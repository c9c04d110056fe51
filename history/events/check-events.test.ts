// An import holds a hundred thousand ready events: how much memory each takes, and which drafts become none.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { checkEvents, type NumberedDraft } from './check-events.ts';

const receiveTimeMs = Date.UTC(2026, 2, 4);
const context = {
  ...{ projectId: '6ba7b810-9dad-11d1-80b4-00c04fd430c8', family: 'posthog' },
  ...{ receiveTimeMs, correctsClock: false },
};

function draftOf(number: number): NumberedDraft {
  const draft = new EventDraft('imported');
  draft.timeMs = receiveTimeMs - number;
  draft.distinctId = `person-${number}`;
  for (let n = 0; n < 20; n++) draft.properties.put(`name_${n}`, `the value ${n} of ${number}`);
  return { draft, number };
}

it('holds its text, and not the parts of which the text was made', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const heldBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heldBytes();
  const events = Array.from({ length: 50 }, (_, group) =>
    checkEvents(
      Array.from({ length: 100 }, (_, n) => draftOf(100 * group + n)),
      context,
      () => {},
    ),
  ).flat();
  const perEvent = (heldBytes() - before) / events.length;
  const characters = events.reduce((sum, { text }) => sum + text.length, 0) / events.length;
  expect(events).toHaveLength(5_000);
  expect(perEvent / characters).toBeLessThan(1.4);
});

it.each([
  [undefined, 'required'],
  [Number.NaN, 'required'],
  [-1, 'time_early'],
  [Number.NEGATIVE_INFINITY, 'time_early'],
  [Number.POSITIVE_INFINITY, 'time_ahead'],
  [receiveTimeMs + 49 * 3_600_000, 'time_ahead'],
])('an event of the moment %s is left out, and not taken for one of now', (timeMs, rule) => {
  const draft = new EventDraft('imported');
  draft.timeMs = timeMs;
  draft.distinctId = 'ada';
  const told: unknown[] = [];
  const ready = checkEvents([{ draft, number: 7 }], context, (number, violation) =>
    told.push([number, violation.field, violation.rule]),
  );
  expect({ ready, told }).toEqual({ ready: [], told: [[7, 'occurTime', rule]] });
});
