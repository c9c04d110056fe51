// The two commands as a user runs them, against a real instance.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../test/harness/servers/stack.ts';
import { type Client, createClient, type Profile } from './sending/client.ts';
import { readVisitor, waitUntilListed } from './sending/readable.ts';
import type { Event } from './visits/event.ts';

const built = join(import.meta.dirname, '../dist/demo');
const directory = mkdtempSync(join(tmpdir(), 'millrace-demo-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Finished {
  code: number | null;
  out: string;
  err: string;
}

function run(command: 'play' | 'import', ...args: string[]): Promise<Finished> {
  const child = spawn(process.execPath, [join(built, `${command}.js`), ...args], {
    cwd: directory,
  });
  const finished: Finished = { code: null, out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    finished.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    finished.err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...finished, code }));
  });
}

describe('without an instance', () => {
  it.each([
    [['play'], /^demo: no keys in data\/demo\.json: run `npm start` first/],
    [['play', '--events', 'many'], /^demo: no keys/],
    [['play', '--wrong'], /^demo: Unknown option '--wrong'.*usage: npm run demo/],
    [
      ['play', '--key', 'pub_x', '--private-key', 'prv_x', '--events', '0'],
      /^demo: --events must be/,
    ],
    [
      ['play', '--key', 'pub_x', '--private-key', 'prv_x', '--url', 'http://127.0.0.1:1'],
      /^demo: no Millrace answers at http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)/,
    ],
    [
      ['play', '--key', 'pub_x', '--private-key', 'prv_x', '--url', 'ftp://x'],
      /^demo: ftp:\/\/x is not/,
    ],
    [['import'], /^import: usage: npm run import/],
    [['import', 'access-log'], /^import: usage: npm run import/],
    [['import', 'access-log', 'x.log'], /^import: no keys in data\/demo\.json/],
  ])('%j says what is wrong in one sentence', async ([command, ...args], sentence) => {
    const { code, out, err } = await run(command === 'play' ? 'play' : 'import', ...args);
    expect(err).toMatch(sentence);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 1, out: '' });
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

  it.each([11, 12, 13, 14, 15, 16])(
    'the demo stores its visits and shows one whole profile, from seed %i',
    async (seed) => {
      const args = [...flags, '--events', '600', '--seed', String(seed)];
      const { code, out, err } = await run('play', ...args);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(
        /[\d,]+ events of [\d,]+ visits acknowledged in [\d.]+ s: [\d,]+ events\/s/,
      );
      expect(out).toMatch(/the visitor below could be read whole [\d.]+ s after the last/);
      expect(out).toMatch(/Profile [0-9a-f]{32}\n/);
      expect(out).toMatch(/ {2}place +\S+/);
      const [, distinctId] = out.match(/ {2}distinct id +(\S+)\n/) ?? [];
      const filter = { distinctId, pageSize: 1_000 };
      const stored = await client.listEvents(filter, stack.privateKey);
      expect(out).toMatch(new RegExp(` {2}events +${stored.length}\n`));
      const newest = stored[0]?.occurTime.slice(0, 19).replace('T', ' ');
      expect(out).toContain(`  last seen    ${newest}\n`);
      expect(out).toMatch(new RegExp(`Its latest events\n {2}${newest} {2}\\w+`));
    },
  );

  it('the demo of the same seed again shows the visitor, whose events are stored already', async () => {
    const args = [...flags, '--events', '600', '--seed', '17'];
    const [first, again] = [await run('play', ...args), await run('play', ...args)];
    expect({ code: again.code, err: again.err }).toEqual({ code: 0, err: '' });
    const shown = (out: string) => out.match(/Profile [0-9a-f]{32}\n.*? {2}events +\d+\n/s)?.[0];
    expect(shown(again.out)).toBe(shown(first.out));
    expect(shown(first.out)).toMatch(/events/);
  });

  it('a visitor is shown once all that was sent is listed and in the sums', async () => {
    const [first, second] = [shopView(0), shopView(1_000)];
    const { distinctId } = first;
    await client.sendEvents([first], stack.publicKey);
    await waitUntilListed(client, first, stack.privateKey);
    let lists = 0;
    let profiles = 0;
    /** Of the moment when the second event was not yet sent: its insert shows events first, sums a moment later. */
    let early: Profile | undefined;
    const gated: Client = {
      ...client,
      async listPage(filter, key) {
        const page = await client.listPage(filter, key);
        if (lists++ === 0) {
          early = await client.getProfile(page.events[0]?.profileId ?? '', key);
          await client.sendEvents([second], stack.publicKey);
          await waitUntilListed(client, second, key);
        }
        return page;
      },
      getProfile: async (id, key) =>
        (profiles++ === 0 && early) || (await client.getProfile(id, key)),
    };
    const by = { kind: 'ids', ids: [first.eventId, second.eventId] } as const;
    const sent = { distinctId, events: 2, by };
    const { profile, latest } = await readVisitor(gated, sent, 10, stack.privateKey);
    expect(early?.activity).toMatchObject({ totalEvents: '1' });
    expect(lists).toBeGreaterThanOrEqual(3);
    expect(profiles).toBeGreaterThanOrEqual(2);
    expect(profile.activity).toMatchObject({ totalEvents: '2', pageviews: '2' });
    expect(latest.map(({ eventId }) => eventId)).toEqual([first.eventId, second.eventId]);
  });

  it('the same log twice is stored once', async () => {
    const path = join(directory, 'access.log');
    const line = (minute: number, rest: string): string =>
      `192.0.2.7 - - [10/Oct/2025:13:0${minute}:36 +0000] "GET /page-${minute} HTTP/1.1" ${rest}`;
    const agent = '"-" "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"';
    const lines = [1, 2, 3].map((minute) => line(minute, `200 99 ${agent}`));
    writeFileSync(path, [...lines, 'nonsense', line(4, `404 1 ${agent}`), ''].join('\n'));
    const args = ['access-log', path, '--hostname', 'mine.example', ...flags];
    const first = await run('import', ...args);
    expect(first.err).toBe('');
    expect(first.out).toContain('5 lines read, 3 events acknowledged');
    expect(first.out).toContain('1 left out: redirects and errors');
    expect(first.out).toMatch(/1 left out: in no format that is known: .*\n {2}line 4: nonsense\n/);
    expect(first.out).toMatch(/ {2}page views +3\n/);
    expect(first.out).toMatch(/ {2}browser +Firefox 143\.0\n/);
    expect((await run('import', ...args)).code).toBe(0);
    const kinds = { kinds: ['page_view'], filters: [hostIs('mine.example')] };
    const stored = await client.listEvents({ ...kinds, pageSize: 100 }, stack.privateKey);
    expect(stored.map(({ autoProperties }) => autoProperties?.['$pathname'])).toEqual(
      ['/page-3', '/page-2', '/page-1'].map((stringValue) => ({ stringValue })),
    );
    expect(JSON.stringify(stored)).not.toContain('192.0.2.7');
  });

  it('a log of which no line is taken says why, and ends with 1', async () => {
    const path = join(directory, 'hosts.log');
    const line = 'shop.example - - [10/Oct/2025:13:00:36 +0000] "GET / HTTP/1.1" 200 1';
    const args = ['access-log', path, ...flags];
    writeFileSync(path, `${line}\n${line}\nnonsense\n`);
    const refused = await run('import', ...args);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /^import: no line was taken: 2 of 3 are without an address .*--client-field/,
    );
    expect(refused.err.trim().split('\n')).toHaveLength(1);
    writeFileSync(path, '');
    expect(await run('import', ...args)).toMatchObject({
      ...{ code: 1, err: 'import: no line was taken: the file has none\n' },
    });
    writeFileSync(path, line.replace('GET', 'POST').replace('shop.example', '192.0.2.1'));
    expect((await run('import', ...args)).err).toMatch(/^import: .* none is a page view/);
  });

  it('a view is described alike, whether a browser sends it or a log has it', async () => {
    const path = join(directory, 'alike.log');
    const lines: string[] = [];
    for (const [n, [agent, target, referrer]] of alike.entries()) {
      // A page whose visitor was not asked sends no click id's value.
      const $url = `https://alike.example/${n}${target.replace('gclid=x', 'gclid=1')}`;
      const response = await fetch(`${stack.baseUrl}/sdk.events.v1.EventsService/BatchCreate`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': stack.publicKey,
          'user-agent': agent,
        },
        body: JSON.stringify({ events: [liveView({ $url, $referrer: referrer })] }),
      });
      expect(response.status).toBe(200);
      lines.push(
        `192.0.2.9 - - [10/Oct/2025:13:00:${10 + n} +0000] "GET /${n}${target} HTTP/1.1" 200 1 "${referrer}" "${agent}"`,
      );
    }
    writeFileSync(path, lines.join('\n'));
    const { code } = await run(
      'import',
      'access-log',
      path,
      '--hostname',
      'alike.example',
      ...flags,
    );
    expect(code).toBe(0);
    const views = { kinds: ['page_view'], filters: [hostIs('alike.example')], pageSize: 100 };
    await expect
      .poll(async () => (await client.listEvents(views, stack.privateKey)).length, {
        timeout: 20_000,
      })
      .toBe(2 * alike.length);
    const stored = await client.listEvents(views, stack.privateKey);
    const described = (old: boolean): string[] =>
      stored
        .filter(({ occurTime }) => occurTime?.startsWith('2025-10-10') === old)
        .map(({ autoProperties }) => JSON.stringify(Object.entries(autoProperties ?? {}).sort()))
        .sort();
    expect(described(true)).toEqual(described(false));
    expect(described(true).join()).toMatch(/\$bot.*\$aiAssistant|\$aiAssistant.*\$bot/);
  });

  it('a file that is not there is one sentence', async () => {
    const { code, err } = await run('import', 'access-log', 'nowhere.log', ...flags);
    expect(err).toMatch(/^import: nowhere\.log cannot be read: ENOENT.*\n$/);
    expect(code).toBe(1);
  });
});

/** Agent, path behind the first segment, and referrer. */
const alike: readonly [string, string, string][] = [
  [
    `${'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) '}Chrome/141.0.0.0 Safari/537.36`,
    '?gclid=x',
    'https://www.google.com/',
  ],
  [
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile DuckDuckGo/5 Safari/537.36',
    '/p?utm%5Fsource=chatgpt.com',
    'https://chatgpt.com/',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0 Version/17.1 Safari/605.1.15',
    '',
    'https://gemini.google.com/',
  ],
  [
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
    '',
    '',
  ],
  ['shop/1.0', '/a%20b?utm_campaign=sp%C3%A4t', 'android-app://com.pinterest/'],
];

/** A view of one visitor, so long ago. */
function shopView(agoMs: number): Event {
  return {
    ...{ eventId: randomUUID(), sessionId: randomUUID(), kind: 'page_view', distinctId: 'shown' },
    occurTime: new Date(Date.now() - agoMs).toISOString(),
    autoProperties: {},
    customProperties: {},
  };
}

function liveView(texts: Record<string, string>): object {
  const autoProperties = Object.entries(texts).flatMap(([name, stringValue]) =>
    stringValue === '' ? [] : [[name, { stringValue }]],
  );
  return {
    ...{ eventId: randomUUID(), sessionId: randomUUID(), kind: 'page_view', distinctId: 'live' },
    occurTime: new Date().toISOString(),
    autoProperties: Object.fromEntries(autoProperties),
    customProperties: {},
  };
}

function hostIs(value: string): object {
  return { property: '$hostname', operator: 'FILTER_OPERATOR_EQUALS', value };
}
