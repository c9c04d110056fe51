// Sessions of days and years in memory. sessions.test.ts has what becomes of events.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SessionModel } from '../../test/harness/models/session-model.ts';
import { SessionMemory } from './session-memory.ts';
import { sessionIdOf } from './sessions.ts';

const halfHourMs = 30 * 60_000;
const yearMs = 365 * 86_400_000;
const startMs = Date.UTC(2000, 0, 1);

it('keeps a session of years at few places, and finds it at any time of these years', () => {
  const memory = new SessionMemory();
  memory.remember({ id: 's', firstMs: startMs, lastMs: startMs + 26 * yearMs, visitors: ['a'] });
  expect(memory.size).toBeLessThan(10);
  for (let year = 0; year <= 26; year++) {
    expect(memory.nearest('a', startMs + year * yearMs, undefined)?.id).toBe('s');
  }
  const endMs = startMs + 26 * yearMs + halfHourMs;
  expect(memory.nearest('a', endMs, undefined)?.id).toBe('s');
  expect(memory.nearest('a', endMs + 1, undefined)).toBeUndefined();
});

it('lets a session of years go like any other, and all sessions that ended at the same moment', () => {
  const memory = new SessionMemory();
  const lastMs = startMs + yearMs;
  for (const id of ['s', 't', 'u'])
    memory.remember({ id, firstMs: startMs, lastMs, visitors: [id] });
  memory.remember({ id: 'v', firstMs: lastMs, lastMs: lastMs + 1, visitors: ['v'] });
  expect(memory.letGo(1, 0)).toBe(lastMs + 2);
  expect(memory.size).toBe(0);
});

it('lets no more sessions go than make room, however many places each has', () => {
  const memory = new SessionMemory();
  for (let n = 0; n < 100; n++) {
    const firstMs = startMs + n;
    memory.remember({ id: `${n}`, firstMs, lastMs: firstMs + yearMs, visitors: [`v${n}`] });
  }
  const { size } = memory;
  expect(size).toBe(300);
  const beforeMs = memory.letGo(size - 1, 0);
  expect(memory.size).toBeLessThanOrEqual(0.75 * (size - 1));
  expect(memory.size).toBeGreaterThan(0.75 * (size - 1) - 10);
  expect(memory.nearest('v99', startMs + yearMs, undefined)?.id).toBe('99');
  expect(memory.nearest('v0', startMs + yearMs, undefined)).toBeUndefined();
  expect(beforeMs).toBeGreaterThan(startMs + yearMs + 20);
  expect(beforeMs).toBeLessThan(startMs + yearMs + 32);
});

it('finds the sessions of the model, however long they grow, from either end', () => {
  const events = fc.record({
    /** Half hours without an event part the sessions. */
    gaps: fc.uniqueArray(fc.integer({ min: 0, max: 3_000 }), { maxLength: 8 }),
    seed: fc.integer(),
  });
  const property = fc.property(events, ({ gaps, seed }) => {
    const model = new SessionModel();
    const memory = new SessionMemory();
    const isGap = new Set(gaps.flatMap((at) => [at, at + 1]));
    // Seventy days, so that sessions are of every length up to these.
    const steps = Array.from({ length: 3_400 }, (_, at) => at).filter((at) => !isGap.has(at));
    // Towards both ends from a place in the middle: sessions grow to both sides.
    const middle = Math.abs(seed) % steps.length;
    steps.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const step of steps) {
      const timeMs = startMs + step * halfHourMs;
      const found = memory.nearest('a', timeMs, undefined);
      const session = found ?? memory.start(sessionIdOf('a', timeMs), timeMs);
      memory.extend(session, timeMs, timeMs);
      memory.addVisitor(session, 'a');
      expect(session.id).toBe(model.assign('a', undefined, timeMs));
    }
    expect(memory.size).toBeLessThan(9 * (gaps.length + 1) + 1);
  });
  fc.assert(property, { numRuns: 30 });
});
