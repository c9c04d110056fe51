// The import command as a user runs it, against a real instance: the samples of each family, damaged lines, a second
// import, a killed one, and what is refused before anything is sent.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, type StoredEvent } from '../demo/sending/client.ts';
import { type Finished, startImport } from '../test/harness/history/run-command.ts';
import { sampleFamilies } from '../test/harness/history/sample-rows.ts';
import { type Stack, startStack } from '../test/harness/servers/stack.ts';
import { hasTestData, testData } from '../test/harness/test-data.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-import-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (args: readonly string[], input?: string): Promise<Finished> =>
  startImport(args, directory, input).finished;
const sample = (name: string): string => testData('history', name);

function file(name: string, ...lines: string[]): string {
  const path = join(directory, name);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

/** A line of PostHog's export. */
const line = (uuid: string, more: object = {}): string =>
  JSON.stringify({
    ...{ uuid, event: 'imported', distinct_id: 'ada', timestamp: '2024-05-06T07:08:09+00:00' },
    ...{ properties: { plan: 'pro' }, ...more },
  });
const uuid = (last: number): string => `0195612a-7c10-7a31-9c55-${String(last).padStart(12, '0')}`;

describe('without an instance', () => {
  it.each([
    [[], /^import: usage: npm run import/],
    [['nobody', 'x'], /^import: usage: npm run import/],
    [['posthog'], /^import: usage: npm run import/],
    [['posthog', 'x.jsonl'], /^import: no keys in data\/demo\.json/],
    [['plausible', 'x.csv'], /^import: Plausible exports sums of each day, and no events can be/],
    [
      ['mixpanel', 'x', '--dry-run', '--zone', 'Nowhere'],
      /^import: --zone Nowhere is no time zone/,
    ],
    [['posthog', 'x', '--dry-run', '--zone', 'UTC'], /^import: --zone is for mixpanel alone/],
    [['posthog', 'nowhere.jsonl', '--dry-run'], /^import: .*nowhere\.jsonl/],
  ])('%j says what is wrong in one sentence', async (args, sentence) => {
    const { code, out, err } = await run(args);
    expect(err).toMatch(sentence);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });

  it('a dry run says what would be: kinds by month, people, and what is left out, with its lines', async () => {
    const path = file(
      'dry.jsonl',
      line(uuid(1)),
      line(uuid(2), { distinct_id: 'bob', event: '$pageview' }),
      '{"uuid": 3, ',
      line(uuid(4), { timestamp: '2031-01-01T00:00:00+00:00' }),
      line(uuid(5), { timestamp: undefined }),
      line(uuid(6), { event: 'purchase', properties: { amount: -1, currency: 'EUR' } }),
      '[1]',
    );
    const { code, out } = await run(['posthog', path, '--dry-run']);
    expect(code).toBe(0);
    expect(out).not.toContain('may not be whole');
    expect(out).toContain('7 rows read, 3 events of 2 people\nnothing was sent');
    expect(out).toContain('  2024-05  imported  1\n');
    expect(out).toContain('  2024-05  page_view  1\n');
    expect(out).toContain('  2024-05  purchase_unchecked  1\n');
    expect(out).toContain(`1 left out: no JSON: the line is damaged\n  ${path}:3\n`);
    expect(out).toContain(`1 left out: no record: the line holds something else\n  ${path}:7\n`);
    expect(out).toMatch(/1 left out: occurTime must be at most 48 hours after receipt\n.*:4\n/);
    expect(out).toMatch(/1 left out: occurTime is required\n.*:5\n/);
    expect(out).toMatch(/1 stored under another kind: .*amount.* greater than 0 .*\n.*:6\n/);
  });

  it('an export that its vendor ended early is told, and what it has is taken', async () => {
    const path = file('early.jsonl', line(uuid(1)), 'terminated early');
    const { code, out } = await run(['posthog', path, '--dry-run']);
    expect(code).toBe(1);
    expect(out).toContain('2 rows read, 1 events of 1 people\n');
    expect(out).toContain(`${path} may not be whole: its last row is damaged\n`);
  });

  it.runIf(hasTestData)('a project’s zone is asked for where its times show one', async () => {
    const path = sample('mixpanel-old-project-zone.jsonl');
    const { code, err } = await run(['mixpanel', path, '--dry-run']);
    expect({ code, err }).toMatchObject({ code: 1 });
    expect(err).toMatch(/its times are -8 h off UTC, .* give the project's zone with --zone/);
    const other = await run(['mixpanel', path, '--dry-run', '--zone', 'Europe/Berlin']);
    expect(other.err).toMatch(/its times are still -9 h off with --zone Europe\/Berlin/);
  });
});

describe('with an instance', () => {
  let stack: Stack;
  let client: Client;
  let flags: string[];
  beforeAll(async () => {
    stack = await startStack();
    client = createClient({ baseUrl: stack.baseUrl, connections: 1 });
    flags = ['--url', stack.baseUrl, '--data', stack.dataDir];
  });
  afterAll(async () => {
    await client?.close();
    await stack?.stop();
  });

  async function storedEvents(filter: Record<string, unknown> = {}): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let pageToken = ''; ; ) {
      const page = await client.listPage(
        { pageSize: 1_000, pageToken, ...filter },
        stack.privateKey,
      );
      events.push(...page.events);
      pageToken = page.nextPageToken;
      if (pageToken === '') return events;
    }
  }

  /** Polls until so many events are stored. */
  async function storedAll(filter: Record<string, unknown>, count: number): Promise<StoredEvent[]> {
    await expect
      .poll(async () => (await storedEvents(filter)).length)
      .toBeGreaterThanOrEqual(count);
    return storedEvents(filter);
  }

  it.runIf(hasTestData)(
    'the samples of each family are stored as their formats mean them',
    async () => {
      const ofSamples = {
        timeRange: { from: '2026-03-04T09:00:00Z', to: '2026-03-04T10:00:00Z' },
      };
      let expected = 0;
      for (const { family, file: name, rows } of sampleFamilies(stack.projectId)) {
        const { code, out, err } = await run([family, sample(name), ...flags]);
        expect({ code, err }, `${family}: ${out}`).toEqual({ code: 0, err: '' });
        expected += Number(/(\d+) sent/.exec(out)?.[1]);
        const stored = await storedAll(ofSamples, expected);
        const byId = new Map(stored.map((event) => [event.eventId, event]));
        for (const { auto, custom, ...row } of rows) {
          const event = byId.get(row.eventId);
          expect(event, `${family}: ${row.kind}`).toMatchObject(row);
          const texts = Object.entries(auto).map(([key, stringValue]) => [key, { stringValue }]);
          expect(event?.autoProperties, family).toMatchObject(Object.fromEntries(texts));
          expect(event?.customProperties ?? {}, family).toMatchObject(custom);
        }
      }
      const stored = await storedAll(ofSamples, expected);
      expect(JSON.stringify(stored)).not.toMatch(/192\.0\.2\.\d/);
      expect(stored).toHaveLength(expected);
      // Other files with the same events, and other forms of them, store nothing more.
      for (const [family, name, args = []] of sameAgain) {
        const again = await run([family, sample(name), ...args, ...flags]);
        expect(again.out, `${family} ${name}`).toMatch(/^0 sent, \d+ were stored before/m);
      }
      expect(await storedEvents(ofSamples)).toHaveLength(expected);
      await expectOnePerson(stored);
    },
  );

  const sameAgain: readonly [string, string, string[]?][] = [
    ['posthog', 'posthog-batch.jsonl.gz'],
    ['posthog', 'posthog-batch.parquet'],
    ['mixpanel', 'mixpanel-time-in-ms.jsonl'],
    ['amplitude', 'amplitude-export.json'],
    ['snowplow', 'snowplow-enriched.tsv'],
    ['matomo', 'matomo-visits.json'],
    ['umami', 'umami-website_event.csv'],
  ];

  /** The devices of all samples are one customer's. */
  async function expectOnePerson(stored: readonly StoredEvent[]): Promise<void> {
    const named = stored.find(({ distinctId }) => distinctId === 'customer-17');
    const devices = [
      ...['0195612a-7aff-7000-8000-00000000beef', '$device:18d3c0ffee-0a'],
      ...['b7c2f0de-1111-4222-8333-444455556666', 'f3c9a1de-1111-4222-8333-444455556666'],
      ...['1845630273.1772615699', '5a0d8f7e-1111-5222-8333-444455556666'],
    ];
    for (const distinctId of ['customer-17', ...devices]) {
      await expect
        .poll(async () => {
          const events = await client.listEvents({ distinctId, pageSize: 1 }, stack.privateKey);
          return events[0]?.profileId;
        })
        .toBe(named?.profileId);
    }
    const profile = await client.getProfile(named?.profileId ?? '', stack.privateKey);
    const properties = { plan: 'pro', signup_source: 'news' };
    expect(profile).toMatchObject({ externalId: 'customer-17', properties });
  }

  it.runIf(hasTestData)(
    'seconds of a project’s zone become the moments that they mean',
    async () => {
      const path = sample('mixpanel-old-project-zone.jsonl');
      const args = ['mixpanel', path, '--zone', 'America/Los_Angeles', ...flags];
      expect((await run(args)).out).toMatch(/^1 sent, 1 were stored before/m);
      const minute = { from: '2026-03-04T09:16:00Z', to: '2026-03-04T09:16:01Z' };
      expect(await storedAll({ timeRange: minute, kinds: ['signed_up'] }, 1)).toHaveLength(1);
    },
  );

  it('standard input, folders and several files are read, and damaged lines leave the rest alone', async () => {
    const folder = join(directory, 'folder');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a.jsonl'), `${line(uuid(11))}\nnonsense\n${line(uuid(12))}\n`);
    writeFileSync(join(folder, 'b.jsonl'), `${line(uuid(12))}\n${line(uuid(13))}`);
    const { code, out, err } = await run(['posthog', folder, '-', ...flags], `${line(uuid(14))}\n`);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`1 left out: no JSON: the line is damaged\n  ${folder}/a.jsonl:2\n`);
    const events = await storedAll({ kinds: ['imported'] }, 4);
    expect(events.map(({ eventId }) => eventId).sort()).toEqual([11, 12, 13, 14].map(uuid));
    expect(events[0]).toMatchObject({
      ...{ distinctId: 'ada', occurTime: '2024-05-06T07:08:09Z' },
      customProperties: { plan: { stringValue: 'pro' } },
    });
    // Without a session of the source, events of one moment are one visit.
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it('an import that was killed goes on with what is left, and stores nothing twice', async () => {
    const count = 60_000;
    const lines = Array.from({ length: count }, (_, n) =>
      line(uuid(1_000_000 + n), {
        ...{ event: 'killed', distinct_id: `person-${n % 500}` },
        timestamp: new Date(Date.UTC(2023, 0, 1) + 60_000 * n).toISOString(),
      }),
    );
    const path = file('killed.jsonl', ...lines);
    const first = startImport(['posthog', path, ...flags], directory);
    const some = { kinds: ['killed'], pageSize: 1 };
    await expect.poll(async () => (await client.listEvents(some, stack.privateKey)).length).toBe(1);
    first.child.kill('SIGKILL');
    await first.finished;
    const second = await run(['posthog', path, ...flags]);
    expect(second.err).toBe('');
    expect(second.out).toMatch(/60,000 rows read, 60,000 events of 500 people\n/);
    const range = { from: '2023-01-01T00:00:00Z', to: '2023-03-01T00:00:00Z' };
    await expect.poll(() => client.countEvents('killed', range, stack.privateKey)).toBe(count);
    const third = await run(['posthog', path, ...flags]);
    expect(third.out).toContain('\n0 sent, 60,000 were stored before');
    expect(await client.countEvents('killed', range, stack.privateKey)).toBe(count);
  });

  it('what came live is stored before, though the vendor’s clock has another time for it', async () => {
    const message = (messageId: string, timestamp: string): string =>
      JSON.stringify({ type: 'track', event: 'both', userId: 'ada', messageId, timestamp });
    const enriched = (id: string, time: string): string => {
      const columns: Record<number, string> = { 6: 'both', 7: id, 16: 'device', 125: time };
      return Array.from({ length: 131 }, (_, index) => columns[index + 1] ?? '').join('\t');
    };
    const rows = {
      posthog: (id: string, timestamp: string) => line(id, { event: 'both', timestamp }),
      ...{ segment: message, rudderstack: message, snowplow: enriched },
    };
    for (const [index, [family, row]] of Object.entries(rows).entries()) {
      const [first, last] = [Date.UTC(2024, 7, 1 + index, 10), Date.UTC(2024, 7, 1 + index, 12)];
      const fileOf = (name: string, ...moments: number[]): string => {
        const ids = moments.map((_, at) => uuid(3_000 + 2 * index + at));
        const texts = moments.map((ms, at) => row(ids[at] ?? '', new Date(ms).toISOString()));
        return file(`${family} ${name}`, ...texts);
      };
      const sent = await run([family, fileOf('sent', first, last), ...flags]);
      expect(sent.out, family).toMatch(/^2 sent/m);
      const [from, to] = [first, last + 1_000].map((ms) => new Date(ms).toISOString());
      await storedAll({ timeRange: { from, to } }, 2);
      for (const apartMs of [300, 90_000]) {
        const exported = fileOf('exported', first + apartMs, last - apartMs);
        const { out } = await run([family, exported, ...flags]);
        expect(out, family).toMatch(/^0 sent, 2 were stored before/m);
      }
    }
  });

  it('the same events cut into other files, turned round and packed, are stored before', async () => {
    const count = 60;
    const lines = Array.from({ length: count }, (_, n) =>
      line(uuid(2_000 + n), {
        ...{ event: 'cut', distinct_id: `person-${n % 7}` },
        // Over the end of a year.
        timestamp: new Date(Date.UTC(2022, 11, 31, 23, 30 + n)).toISOString(),
      }),
    );
    const [first, again] = [file('cut once.jsonl', ...lines), join(directory, 'cut again ü')];
    expect((await run(['posthog', first, first, ...flags])).code).toBe(0);
    const range = { from: '2022-12-01T00:00:00Z', to: '2023-02-01T00:00:00Z' };
    const stored = (): Promise<number> => client.countEvents('cut', range, stack.privateKey);
    await expect.poll(stored).toBe(count);
    mkdirSync(again);
    const [late, early] = [lines.slice(40).reverse(), lines.slice(0, 45)];
    writeFileSync(join(again, 'a.jsonl'), gzipSync(`\ufeff${late.join('\r\n')}`));
    writeFileSync(join(again, 'b'), Buffer.concat(early.map((text) => gzipSync(`${text}\n`))));
    const { out } = await run(['posthog', again, ...flags]);
    expect(out).toContain('\n0 sent, 65 were stored before');
    expect(await stored()).toBe(count);
  });

  it('a file that breaks off is told, with what was read of it', async () => {
    const whole = readFileSync(file('whole.jsonl', line(uuid(21)), line(uuid(22))));
    const path = join(directory, 'cut.jsonl.gz');
    writeFileSync(path, gzipSync(whole).subarray(0, -12));
    const { code, err } = await run(['posthog', path, ...flags]);
    expect(code).toBe(1);
    expect(err).toMatch(/^import: a file cannot be read to its end: unexpected end of file\n$/);
  });

  it('traits stay as they are with --without-traits, and the first of those set once', async () => {
    const set = (last: number, plan: string): string => {
      const properties = { $set: { plan }, $set_once: { first: plan } };
      return line(uuid(last), { event: '$identify', distinct_id: 'eve', properties });
    };
    await run(['posthog', file('new.jsonl', set(31, 'new')), ...flags]);
    const [event] = await storedAll({ distinctId: 'eve' }, 1);
    const planOf = async (): Promise<unknown> => {
      const profile = await client.getProfile(event?.profileId ?? '', stack.privateKey);
      return Object.entries(profile).find(([name]) => name === 'properties')?.[1];
    };
    await expect.poll(planOf).toEqual({ plan: 'new', first: 'new' });
    await run(['posthog', file('old.jsonl', set(32, 'old')), ...flags, '--without-traits']);
    await storedAll({ distinctId: 'eve' }, 2);
    expect(await planOf()).toEqual({ plan: 'new', first: 'new' });
    await run(['posthog', file('newer.jsonl', set(33, 'newer'), set(34, 'newest')), ...flags]);
    await expect.poll(planOf).toEqual({ plan: 'newest', first: 'new' });
  });
});
