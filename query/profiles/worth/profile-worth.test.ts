// What List and Get say a profile is worth, on a real engine: sums beside those of whole numbers of the same texts.

import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Profile,
  ProfileOrder,
  type ProfileWorth,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
const startMs = Date.parse('2026-10-20T08:00:00Z');
const dayMs = 86_400_000;
/** Of which project older events are kept no longer. */
const forgetful = 'forgetful';
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    retainedFrom: (projectId) => (projectId === forgetful ? startMs + 2 * dayMs : undefined),
  });
});
afterAll(async () => {
  await service?.stop();
});

type Row = Parameters<typeof storedRow>[0];
const payment = (amount: bigint | number, currency?: string): Partial<Row> => ({
  kind: 'purchase',
  ...(typeof amount === 'bigint' ? { ints: { amount } } : { doubles: { amount } }),
  strings: currency === undefined ? {} : { currency },
});

async function listed(projectId: string, request = {}): Promise<Profile[]> {
  const found: Profile[] = [];
  const all = service.profiles(projectId).list({ withWorth: true, ...request });
  for await (const { profiles } of all) found.push(...profiles);
  return found;
}

/** "30.5 EUR (2)": sum, currency and payments. */
function textsOf(worth: ProfileWorth | undefined): string[] {
  return (worth?.lifetimeValue ?? []).map(
    ({ amount, currency, payments }) => `${amount} ${currency} (${payments})`,
  );
}

/** By the external id, or the id of an anonymous one. */
async function worths(projectId: string, request = {}) {
  const profiles = await listed(projectId, request);
  return new Map(profiles.map((one) => [one.externalId || one.id, one.worth]));
}

describe('the worth of profiles', () => {
  const projectId = 'shop';
  const at = (distinctId: string, afterMs: number, fields: Partial<Row> = {}) =>
    storedRow({ projectId, distinctId, occurTimeMs: startMs + afterMs, ...fields });
  const source = (host: string, utmSource = '') => ({
    columns: { referrer_domain: host, ...(utmSource && { utm_source: utmSource }) },
  });
  const [least, greatest] = [randomUUID(), randomUUID()].sort();

  beforeAll(async () => {
    await storeRows(service.clickhouse, [
      at('ada', dayMs, source('t.co')),
      at('ada', dayMs, payment(0.1, 'EUR')),
      at('ada', dayMs + 1, payment(0.2, 'EUR')),
      at('ada', 9 * dayMs, payment(3_000n, 'EUR')),
      at('ada', 9 * dayMs, payment(1_200n, 'USD')),
      at('ada', 9 * dayMs, payment(-200.5, 'USD')),
      at('ada', 9 * dayMs, payment(7n)),
      at('ada', 9 * dayMs, { ...payment(8n), ints: { amount: 8n, currency: 978n } }),
      at('ada', 9 * dayMs, payment(1n, 'eur')),
      // No payments: a text, no number, and another person's.
      at('ada', 9 * dayMs, { strings: { amount: '99', currency: 'EUR' } }),
      at('ada', 9 * dayMs, payment(Number.POSITIVE_INFINITY, 'EUR')),
      at('cookieless-ada', 0, { cookieless: true, ...payment(50n, 'EUR') }),
      // The same person before they were known, in another browser, by a bot.
      at('anon-ada', 5, { eventId: greatest ?? '', ...source('later.example') }),
      at('anon-ada', 5, { eventId: least ?? '', ...source('www.google.com', 'newsletter') }),
      at('anon-ada', dayMs, { ...payment(1n, 'EUR'), bools: { $bot: true } }),
      at('refunded', 0, payment(5n, 'EUR')),
      at('refunded', 0, payment(-12.25, 'EUR')),
      at('nobody knows', 0, payment(2n, 'CHF')),
    ]);
    await storeRows(service.clickhouse, [
      storedRow({ projectId: 'other', distinctId: 'ada', ...payment(70n, 'EUR') }),
    ]);
    const merged = { named: false, owner: 'ada', root: 'ada', wasClaimed: true };
    await storeProfiles(service.clickhouse, [
      { projectId, distinctId: 'ada' },
      { projectId, distinctId: 'anon-ada', ...merged },
      { projectId, distinctId: 'refunded' },
      { projectId, distinctId: 'without events' },
    ]);
  });

  const ofAda = ['3001.3 EUR (4)', '999.5 USD (2)', '7 undefined (1)', '8 978 (1)', '1 eur (1)'];

  it('adds up each currency apart, of all ids of a person', async () => {
    const all = await worths(projectId);
    expect(textsOf(all.get('ada'))).toEqual(ofAda);
    expect(textsOf(all.get('refunded'))).toEqual(['-7.25 EUR (2)']);
    expect(all.get('without events')).toMatchObject({
      lifetimeValue: [],
      moreCurrencies: 0,
      hasTooManyPayments: false,
    });
    const anonymous = [...all].filter(([id]) => /^[0-9a-f]{32}$/.test(id));
    expect(anonymous.map(([, worth]) => textsOf(worth))).toEqual([['2 CHF (1)']]);
  });

  it('names the source of the earliest event, of the least id within a millisecond', async () => {
    const all = await worths(projectId);
    expect(all.get('ada')?.firstSource).toMatchObject({
      referrerDomain: 'www.google.com',
      utmSource: 'newsletter',
      utmMedium: '',
    });
    expect(all.get('refunded')?.firstSource?.referrerDomain).toBe('');
    expect(all.get('without events')?.firstSource).toBeUndefined();
  });

  it('is the same in every order and by Get, and absent unless it is asked for', async () => {
    const usual = await worths(projectId);
    const sorted = await worths(projectId, { orderBy: ProfileOrder.TOTAL_EVENTS });
    expect(sorted.get('ada')).toEqual(usual.get('ada'));
    expect(sorted.size).toBe(usual.size);
    const client = service.profiles(projectId);
    const ada = await client.getByExternalId({ externalId: 'ada', withWorth: true });
    expect(ada.profile?.worth).toEqual(usual.get('ada'));
    const got = await client.get({ id: ada.profile?.id ?? '', withWorth: true });
    expect(got.profile?.worth).toEqual(usual.get('ada'));
    const plain = await client.getByExternalId({ externalId: 'ada' });
    expect(plain.profile?.worth).toBeUndefined();
    const unasked = await listed(projectId, { withWorth: false });
    expect(unasked.map(({ worth }) => worth)).toEqual(unasked.map(() => undefined));
  });
});

it('does not count what a project keeps no longer', async () => {
  const of = (occurTimeMs: number, amount: bigint, host: string) =>
    storedRow({
      ...{ projectId: forgetful, distinctId: 'ada', occurTimeMs },
      ...payment(amount, 'EUR'),
      columns: { referrer_domain: host },
    });
  await storeRows(service.clickhouse, [
    of(startMs, 100n, 'gone.example'),
    of(startMs + 3 * dayMs, 20n, 'kept.example'),
    of(startMs + 4 * dayMs, 3n, ''),
  ]);
  await storeProfiles(service.clickhouse, [{ projectId: forgetful, distinctId: 'ada' }]);
  const ada = (await worths(forgetful)).get('ada');
  expect(textsOf(ada)).toEqual(['23 EUR (2)']);
  expect(ada?.firstSource?.referrerDomain).toBe('kept.example');
});

describe('bounds', () => {
  it('says of more than 5,000 payments that they are too many, and shows no sum', async () => {
    const projectId = 'busy';
    const many = (distinctId: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        storedRow({ projectId, distinctId, occurTimeMs: startMs + index, ...payment(1n, 'EUR') }),
      );
    await storeRows(service.clickhouse, [...many('most', 5_000), ...many('too many', 5_001)]);
    await storeProfiles(service.clickhouse, [
      { projectId, distinctId: 'most' },
      { projectId, distinctId: 'too many' },
    ]);
    const all = await worths(projectId);
    expect(textsOf(all.get('most'))).toEqual(['5000 EUR (5000)']);
    expect(all.get('most')?.hasTooManyPayments).toBe(false);
    expect(all.get('too many')).toMatchObject({ lifetimeValue: [], hasTooManyPayments: true });
    expect(all.get('too many')?.firstSource).toBeDefined();
  });

  it('has the 20 currencies with the most payments, and says how many there are besides', async () => {
    const projectId = 'currencies';
    const rows = Array.from({ length: 23 }, (_, index) =>
      Array.from({ length: index + 1 }, () =>
        storedRow({ projectId, distinctId: 'ada', ...payment(1n, `C${index}`) }),
      ),
    ).flat();
    rows.push(storedRow({ projectId, distinctId: 'bob', ...payment(1n, 'x'.repeat(5_000)) }));
    await storeRows(service.clickhouse, rows);
    await storeProfiles(service.clickhouse, [
      { projectId, distinctId: 'ada' },
      { projectId, distinctId: 'bob' },
    ]);
    const all = await worths(projectId);
    const texts = textsOf(all.get('ada'));
    expect(texts).toHaveLength(20);
    expect([texts[0], texts.at(-1)]).toEqual(['23 C22 (23)', '4 C3 (4)']);
    expect(all.get('ada')?.moreCurrencies).toBe(3);
    expect(all.get('bob')?.lifetimeValue[0]?.currency).toBe('x'.repeat(100));
  });

  it('answers a page at most, whose token serves requests without it', async () => {
    const projectId = 'pages';
    await storeProfiles(
      service.clickhouse,
      Array.from({ length: 120 }, (_, index) => ({ projectId, distinctId: `p${index}` })),
    );
    const client = service.profiles(projectId);
    const pages = [];
    for await (const page of client.list({ withWorth: true })) pages.push(page);
    expect(pages.map(({ profiles }) => profiles.length)).toEqual([100]);
    const [{ nextPageToken = '' } = {}] = pages;
    const rest = [];
    for await (const page of client.list({ pageToken: nextPageToken })) rest.push(page);
    expect(rest.flatMap(({ profiles }) => profiles)).toHaveLength(20);
  });
});

it('adds up the shortest texts of any doubles and whole numbers', async () => {
  const amounts = fc.array(
    fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: -10_000, max: 10_000 }).map((cents) => cents / 100),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    ),
    { minLength: 1, maxLength: 20 },
  );
  const samples: (number | bigint)[][] = [
    [0.1, 0.2, 0.3, -0],
    [1e21, 1n, -1e21, 5e-324],
    [Number.MAX_VALUE, Number.MIN_VALUE, 1e-7, 123456789012345680000],
    [2n ** 63n - 1n, 2n ** 63n - 1n, 0.25],
    ...fc.sample(amounts, { numRuns: 60, seed: 11 }),
  ];
  const projectId = 'any numbers';
  const people = samples.map((values, index) => ({ values, distinctId: `p${index}` }));
  await storeRows(
    service.clickhouse,
    people.flatMap(({ values, distinctId }) =>
      values.map((amount) => storedRow({ projectId, distinctId, ...payment(amount, 'EUR') })),
    ),
  );
  await storeProfiles(
    service.clickhouse,
    people.map(({ distinctId }) => ({ projectId, distinctId })),
  );
  const all = await worths(projectId);
  for (const { values, distinctId } of people) {
    const [sum] = all.get(distinctId)?.lifetimeValue ?? [];
    expect([values, scaled(sum?.amount ?? '')]).toEqual([
      values,
      values.reduce<bigint>((total, value) => total + scaled(String(value)), 0n),
    ]);
    expect(sum?.amount).toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
  }
});

/** A decimal number's text, times ten to the power of 400. */
function scaled(text: string): bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(text) ?? [];
  const size = BigInt(whole + fraction) * 10n ** BigInt(400 + Number(exponent) - fraction.length);
  return sign === '-' ? -size : size;
}
