// Cookieless ids against their definition, and which callers and days share one.

import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import type { DaySalt } from './salt.ts';
import { CookielessResolver, cookielessId } from './visitor-ids.ts';

const today = 20_777;
const noonMs = today * dayMs + dayMs / 2;

function saltOf(day: number): Buffer {
  return Buffer.alloc(32, day);
}

/** The definition of `cookielessId`, with node:crypto's own HMAC. */
function expectedId(salt: Buffer, ...fields: string[]): string {
  const hmac = createHmac('sha256', salt);
  for (const field of fields) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(field));
    hmac.update(length).update(field);
  }
  return `cookieless-${hmac.digest().toString('base64url', 0, 16)}`;
}

describe('cookielessId', () => {
  it.each([
    ['p', '192.0.2.1', 'agent'],
    ['0190a5e0-7c3e-7000-8000-000000000001', '2001:db8::1', 'ägent 😀 日本'],
    ['p', '192.0.2.1', ''],
    ['p', '192.0.2.1', 'a'.repeat(1_024)],
    ['p', '192.0.2.1', '日'.repeat(1_024)],
  ])('is an HMAC: %s %s', (projectId, address, userAgent) => {
    const salt = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - 7 * index));
    const id = cookielessId(salt, projectId, { address, userAgent });
    expect(id).toBe(expectedId(salt, projectId, address, userAgent));
  });
});

describe('callers who take turns at one address', () => {
  const days = { events: 2, today: 1, yesterday: 1, atMidnight: false };

  it('get ids of their own agent, project and day', async () => {
    const clock = { nowMs: () => noonMs };
    const of = (day: number): DaySalt => ({ kind: 'salt', salt: saltOf(day) });
    const resolver = new CookielessResolver({ of }, clock);
    const address = '192.0.2.1';
    for (let turn = 0; turn < 3; turn++) {
      for (const [projectId, userAgent, day] of [
        ['p', 'one', today],
        ['p', 'one', today],
        ['p', 'two', today],
        ['q', 'two', today],
        ['q', 'two', today + 1],
      ] as const) {
        const receiveTimeMs = noonMs + (day - today) * dayMs;
        const identity = { address, userAgent };
        const { ids, dropped } = await resolver.resolve(projectId, receiveTimeMs, identity, days);
        expect(dropped).toBeUndefined();
        expect(ids).toEqual({
          today: expectedId(saltOf(day), projectId, address, userAgent),
          yesterday: expectedId(saltOf(day - 1), projectId, address, userAgent),
        });
      }
    }
  });

  it.each([0, 1])(
    'get them at once where both salts are known, later where day -%i’s is not',
    async (late) => {
      const known = (day: number): DaySalt => ({ kind: 'salt', salt: saltOf(day) });
      const waits = (day: number) =>
        day === today - late ? Promise.resolve(known(day)) : known(day);
      const identity = { address: '192.0.2.1', userAgent: 'one' };
      const resolve = (of: typeof waits) =>
        new CookielessResolver({ of }, { nowMs: () => noonMs }).resolve(
          'p',
          noonMs,
          identity,
          days,
        );
      const atOnce = resolve(known);
      expect(atOnce).not.toBeInstanceOf(Promise);
      const waited = resolve(waits);
      expect(waited).toBeInstanceOf(Promise);
      expect(await waited).toEqual(atOnce);
    },
  );

  it('get no id of a day without events', async () => {
    const of = (day: number): DaySalt => ({ kind: 'salt', salt: saltOf(day) });
    const resolver = new CookielessResolver({ of }, { nowMs: () => noonMs });
    const identity = { address: '192.0.2.1', userAgent: 'one' };
    const both = await resolver.resolve('p', noonMs, identity, days);
    const one = await resolver.resolve('p', noonMs, identity, { ...days, yesterday: 0 });
    expect(Object.keys(both.ids)).toEqual(['today', 'yesterday']);
    expect(one).toEqual({
      ids: { today: both.ids.today },
      dropped: { events: 1, byReason: { day_out_of_range: 1 } },
    });
  });
});
