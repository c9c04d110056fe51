// Access logs by the import command as a user runs it, against a real instance.

import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../demo/sending/client.ts';
import { type Finished, startImport } from '../../test/harness/history/run-command.ts';
import { type Stack, startStack } from '../../test/harness/servers/stack.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-import-log-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (args: readonly string[]): Promise<Finished> => startImport(args, directory).finished;

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

  it('the same log twice is stored once', async () => {
    const path = join(directory, 'access.log');
    const line = (minute: number, rest: string): string =>
      `192.0.2.7 - - [10/Oct/2025:13:0${minute}:36 +0000] "GET /page-${minute} HTTP/1.1" ${rest}`;
    const agent = '"-" "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"';
    const lines = [1, 2, 3].map((minute) => line(minute, `200 99 ${agent}`));
    writeFileSync(path, [...lines, 'nonsense', line(4, `404 1 ${agent}`), ''].join('\n'));
    const args = ['access-log', path, '--hostname', 'mine.example', ...flags];
    const first = await run(args);
    expect(first.err).toBe('');
    expect(first.out).toContain('5 rows read, 3 events of 1 people\n3 sent, 0 were stored before');
    expect(first.out).toContain('1 left out: redirects and errors');
    expect(first.out).toMatch(/1 left out: in no format that is known: .*\n {2}.*access\.log:4\n/);
    const kinds = { kinds: ['page_view'], filters: [hostIs('mine.example')] };
    await expect
      .poll(async () => (await client.listEvents(kinds, stack.privateKey)).length)
      .toBe(3);
    expect((await run(args)).out).toContain('0 sent, 3 were stored before');
    const stored = await client.listEvents({ ...kinds, pageSize: 100 }, stack.privateKey);
    expect(stored.map(({ autoProperties }) => autoProperties?.['$pathname'])).toEqual(
      ['/page-3', '/page-2', '/page-1'].map((stringValue) => ({ stringValue })),
    );
    expect(JSON.stringify(stored)).not.toContain('192.0.2.7');
  });

  it('a folder that holds a log and its copy stores each line once, as often as it stands in one of them', async () => {
    const folder = join(directory, 'copied');
    mkdirSync(folder);
    const line = (path: string): string =>
      `192.0.2.8 - - [10/Oct/2025:14:00:36 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "x"\n`;
    const log = line('/twice') + line('/twice') + line('/once');
    writeFileSync(join(folder, 'access.log'), log);
    writeFileSync(join(folder, 'access.log.1.gz'), gzipSync(log));
    const args = ['access-log', folder, '--hostname', 'copied.example', ...flags];
    expect((await run(args)).out).toContain('6 rows read, 6 events of 1 people\n');
    const views = { kinds: ['page_view'], filters: [hostIs('copied.example')], pageSize: 100 };
    const stored = async (): Promise<number> =>
      (await client.listEvents(views, stack.privateKey)).length;
    await expect.poll(stored).toBeGreaterThanOrEqual(3);
    expect((await run(args)).out).toContain('\n0 sent, 6 were stored before');
    expect(await stored()).toBe(3);
  });

  it('a log of which no line is taken says why, and ends with 1', async () => {
    const path = join(directory, 'hosts.log');
    const line = 'shop.example - - [10/Oct/2025:13:00:36 +0000] "GET / HTTP/1.1" 200 1';
    const args = ['access-log', path, ...flags];
    writeFileSync(path, `${line}\n${line}\nnonsense\n`);
    const refused = await run(args);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(
      /^import: no event was taken: 2 of 3 are left out: without an address .*--client-field/,
    );
    expect(refused.err.trim().split('\n')).toHaveLength(1);
    writeFileSync(path, '');
    expect(await run(args)).toMatchObject({
      ...{ code: 1, err: 'import: no event was taken: the files have no rows\n' },
    });
    writeFileSync(path, line.replace('GET', 'POST').replace('shop.example', '192.0.2.1'));
    expect((await run(args)).err).toMatch(
      /^import: no event was taken: 1 of 1 are left out: not a GET/,
    );
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
    const { code } = await run(['access-log', path, '--hostname', 'alike.example', ...flags]);
    expect(code).toBe(0);
    const views = { kinds: ['page_view'], filters: [hostIs('alike.example')], pageSize: 100 };
    await expect
      .poll(async () => (await client.listEvents(views, stack.privateKey)).length)
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
