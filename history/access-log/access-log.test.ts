// Lines and files of access logs, made by hand and real. Other formats than the common ones: formats.test.ts; what
// becomes of a line: page-views.test.ts.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { inputRows } from '../../test/harness/history/input-rows.ts';
import { hasTestData, testData } from '../../test/harness/test-data.ts';
import { createLineParser, createLineReader, type ReadLine } from './access-log.ts';
import type { LogLine } from './log-line.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-access-log-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const head = '192.0.2.7 - frank [10/Oct/2025:13:55:36 -0700]';
const timeMs = Date.UTC(2025, 9, 10, 20, 55, 36);

function parseLogLine(text: string): LogLine | undefined {
  const parsed = createLineParser()(text);
  return parsed.kind === 'line' ? parsed.line : undefined;
}

describe('a line', () => {
  it('in the combined format gives every field', () => {
    const text = `${head} "GET /a?b=c HTTP/1.1" 200 2326 "https://example.com/start" "Mozilla/5.0 (X)"`;
    expect(parseLogLine(text)).toEqual({
      ...{ address: '192.0.2.7', timeMs, method: 'GET', target: '/a?b=c', status: 200 },
      ...{ bytes: 2326, referrer: 'https://example.com/start', userAgent: 'Mozilla/5.0 (X)' },
    });
  });

  it('in the common format has no referrer and no agent', () => {
    expect(parseLogLine(`${head} "POST /form HTTP/2.0" 302 -`)).toEqual({
      ...{ address: '192.0.2.7', timeMs, method: 'POST', target: '/form', status: 302 },
    });
  });

  it('of several virtual hosts names its host', () => {
    const line = parseLogLine(
      `shop.example.org:443 2001:db8::1 - - ${head.slice(18)} "GET / HTTP/1.1" 200 1`,
    );
    expect(line).toMatchObject({ hostname: 'shop.example.org', address: '2001:db8::1' });
  });

  it.each([
    ['a host and a port', 'shop.example.org:443 203.0.113.9', 'shop.example.org'],
    ['a host alone', 'Shop.Example.org 203.0.113.9', 'shop.example.org'],
    ['a host that is an address', '198.51.100.1 203.0.113.9', '198.51.100.1'],
    ['addresses of proxies', '203.0.113.9, 10.0.0.7', undefined],
  ])('may begin with %s', (_, first, hostname) => {
    const line = parseLogLine(`${first} - - ${head.slice(18)} "GET / HTTP/1.1" 200 1 "-" "curl/8"`);
    expect(line?.hostname).toBe(hostname);
    expect(line?.address).toBe('203.0.113.9');
  });

  it.each([
    ['2001:DB8:0:1:0:0:0:FF', '2001:db8:0:1::ff'],
    ['[2001:db8:0:1::ff]:443', '2001:db8:0:1::ff'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['192.0.2.7:50312', '192.0.2.7'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('has one form of the address %s', (first, address) => {
    const line = parseLogLine(`${first} ${head.slice(10)} "GET / HTTP/1.1" 200 1`);
    expect(line).toMatchObject({ address });
  });

  it('may have a user with spaces and fields after the agent', () => {
    const text = `192.0.2.7 - Ann Lee ${head.slice(18)} "GET / HTTP/1.1" 200 1 "-" "curl/8" "203.0.113.9" 0.003`;
    expect(parseLogLine(text)).toMatchObject({ timeMs, userAgent: 'curl/8' });
    expect(parseLogLine(text)).not.toHaveProperty('referrer');
  });

  it('has escaped quotes and bytes put back', () => {
    const text = String.raw`${head} "GET /p HTTP/1.1" 200 1 "http://x/\"q\"" "Pszcz\xc3\xb3\xc5\x82ka \\ 1\t2"`;
    expect(parseLogLine(text)).toMatchObject({
      ...{ referrer: 'http://x/"q"', userAgent: 'Pszczółka \\ 1\t2' },
    });
  });

  it.each([
    ['nothing', ''],
    ['a looked-up name', `crawl-1.example.com ${head.slice(10)} "GET / HTTP/1.1" 200 1`],
    ['a host alone', `shop.example.org - - ${head.slice(18)} "GET / HTTP/1.1" 200 1`],
    ['an absent client', `- - - ${head.slice(18)} "GET / HTTP/1.1" 200 1`],
    ['words', 'not a log line at all'],
    ['a request cut off', `${head} "GET /a`],
    ['a TLS hello', String.raw`${head} "\x16\x03\x01\x02" 400 226 "-" "-"`],
    ['no status', `${head} "GET / HTTP/1.1" - 12`],
    ['an agent cut off', `${head} "GET / HTTP/1.1" 200 235 "-" "Mozilla/5.0 (comp`],
    ['no month', '192.0.2.7 - - [10/Foo/2025:13:55:36 -0700] "GET / HTTP/1.1" 200 1'],
    ['a month cut from two', '192.0.2.7 - - [10/anF/2025:13:55:36 -0700] "GET / HTTP/1.1" 200 1'],
    ['30 February', '192.0.2.7 - - [30/Feb/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 1'],
    ['hour 25', '192.0.2.7 - - [10/Oct/2025:25:55:36 +0000] "GET / HTTP/1.1" 200 1'],
  ])('that is %s is bad', (_, text) => {
    expect(parseLogLine(text)).toBeUndefined();
  });

  it('is read in linear time', () => {
    parseLogLine(`${head} "${'\\'.repeat(60_000)}`);
    parseLogLine(`${'a '.repeat(30_000)}[`);
    parseLogLine(`a - ${' [1'.repeat(20_000)}`);
    parseLogLine(`a - ${' ['.repeat(30_000)}`);
  });
});

async function readAll(path: string): Promise<ReadLine[]> {
  const readLine = createLineReader();
  const rows = await inputRows(path, 'lines');
  return rows.flatMap(({ number, value }) => readLine({ number, text: String(value) }) ?? []);
}

function read(name: string, content: string | Buffer): Promise<ReadLine[]> {
  const path = join(directory, name);
  writeFileSync(path, content);
  return readAll(path);
}

describe('a file', () => {
  const good = `${head} "GET / HTTP/1.1" 200 1`;

  it('gives lines and bad lines with their numbers, whatever its line ends', async () => {
    const lines = await read('ends.log', `${good}\r\n\nnonsense\n${good}`);
    expect(lines.map(({ kind, number }) => [kind, number])).toEqual([
      ['line', 1],
      ['bad', 3],
      ['line', 4],
    ]);
    expect(lines[0]?.text).toBe(good);
  });

  it('is unpacked where it is gzipped, whatever its name', async () => {
    expect(await read('zipped.log', gzipSync(`${good}\n`.repeat(5_000)))).toHaveLength(5_000);
  });

  it('may be empty', async () => {
    expect(await read('empty.log', '')).toEqual([]);
  });

  it('that is cut off inside its gzip data fails', async () => {
    const whole = gzipSync(
      Buffer.from(Array.from({ length: 50_000 }, (_, n) => `${n * 7919}`).join()),
    );
    await expect(read('cut.log.gz', whole.subarray(0, whole.length / 2))).rejects.toThrow();
  });

  it('cannot fill the memory with one line', async () => {
    const lines = await read('long.log', `${'x'.repeat(5_000_000)}\n${good}\n`);
    expect(lines.map(({ kind }) => kind)).toEqual(['bad', 'line']);
    expect(lines[0]?.text.length).toBe(65_536);
  });

  it('may begin with a byte order mark', async () => {
    expect(await read('bom.log', `\ufeff${good}\n`)).toMatchObject([{ kind: 'line' }]);
    const json =
      '{"RequestMethod":"GET","RequestPath":"/","ClientHost":"192.0.2.7","DownstreamStatus":200,';
    const lines = await read('bom.json', `\ufeff${json}"StartUTC":"2026-01-02T03:04:05Z"}`);
    expect(lines).toMatchObject([{ kind: 'line' }]);
  });
});

const realLog = testData('visits', 'apache_access.log.gz');

it.runIf(hasTestData)('ten thousand lines of a real server', async () => {
  const lines = await readAll(realLog);
  const parsed = lines.flatMap((read) => (read.kind === 'line' ? [read.line] : []));
  expect(lines).toHaveLength(10_000);
  // One line breaks off inside its agent.
  expect(lines.filter(({ kind }) => kind === 'bad').map(({ number }) => number)).toEqual([8_899]);
  expect(new Set(parsed.map(({ address }) => address)).size).toBe(1_753);
  expect(new Set(parsed.map(({ userAgent }) => userAgent ?? '-')).size).toBe(558);
  expect(parsed.filter(({ status }) => status === 200)).toHaveLength(9_125);
  expect(new Date(Math.min(...parsed.map(({ timeMs }) => timeMs))).toISOString()).toMatch(
    /^2015-05-17/,
  );
});
