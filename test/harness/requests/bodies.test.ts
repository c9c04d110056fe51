// The bodies of benches and load tests: the same for one seed, valid, fresh and of the size that figures rely on.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sizes } from '../../../demo/visits/sized-events.ts';
import { scanJsonBody } from '../../../ingest/validation/text/scan-body.ts';
import { maxBodyBytes } from '../../../platform/limits.ts';
import { freshen, makeBodies, occurAt } from './bodies.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const options = { batch: 50, count: 20, seed: 1, nowMs };

function idsOf(bytes: Buffer): string[] {
  const { events }: { events: { eventId: string }[] } = JSON.parse(bytes.toString());
  return events.map(({ eventId }) => eventId);
}

describe.each(sizes)('bodies of size %s', (size) => {
  const bodies = makeBodies({ ...options, size });

  it('are the same for the same seed', () => {
    const again = makeBodies({ ...options, size });
    expect(again.every(({ bytes }, index) => bodies[index]?.bytes.equals(bytes))).toBe(true);
  });

  it('are valid, fresh ones too, and never have an id twice', () => {
    const ids = new Set<string>();
    for (let sequence = 0; sequence < 5; sequence++) {
      for (const body of bodies) {
        freshen(body, sequence * 1_000_003);
        const read = scanJsonBody(body.bytes, { receiveTimeMs: nowMs, maxBodyBytes });
        expect(read).toMatchObject({ kind: 'valid', events: options.batch });
        for (const id of idsOf(body.bytes)) ids.add(id);
      }
    }
    expect(ids.size).toBe(5 * options.batch * options.count);
  });

  it('occur at the given time', () => {
    const [body] = makeBodies({ ...options, size, count: 1 });
    if (body === undefined) throw new Error('no bodies');
    occurAt(body, nowMs - 1);
    const { events }: { events: { occurTime: string }[] } = JSON.parse(body.bytes.toString());
    expect(events.map(({ occurTime }) => Date.parse(occurTime))).toEqual(
      new Array(options.batch).fill(nowMs - 1),
    );
  });

  it('have the size of their name and are hardly easier to compress than real ones', () => {
    const all = Buffer.concat(bodies.map(({ bytes }) => bytes));
    const expected = { small: 245, medium: 605, large: 2_900 }[size];
    const bytesPerEvent = all.length / (options.batch * options.count);
    expect(Math.abs(bytesPerEvent / expected - 1)).toBeLessThan(0.08);
    const [first] = bodies;
    if (first === undefined) throw new Error('no bodies');
    expect(first.bytes.length / gzipSync(first.bytes).length).toBeLessThan(7);
  });
});
