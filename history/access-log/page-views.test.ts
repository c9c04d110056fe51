// From a line of an access log to its event: fields, ids, and the lines that are left out.

import { describe, expect, it } from 'vitest';
import { inputRows } from '../../test/harness/history/input-rows.ts';
import { hasTestData, testData } from '../../test/harness/test-data.ts';
import { createAccessLog } from '../families/access-log.ts';
import { createLineParser, createLineReader } from './access-log.ts';
import type { LogLine } from './log-line.ts';
import {
  createMapper,
  type Mapped,
  type MapperOptions,
  type PageView,
  skipReason,
} from './page-views.ts';

const nowMs = Date.UTC(2026, 10, 20);
const options: MapperOptions = {
  ...{ secret: 'prv_test', hostname: 'example.org', scheme: 'https', all: false, nowMs },
};
const chrome =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) ' +
  'Chrome/141.0.0.0 Mobile Safari/537.36';

function logLine(
  changed: Partial<{ address: string; time: string; request: string; rest: string }> = {},
): string {
  const { address, time, request, rest } = {
    ...{ address: '192.0.2.7', time: '10:00:00', request: 'GET / HTTP/1.1' },
    rest: `200 512 "-" "${chrome}"`,
    ...changed,
  };
  return `${address} - - [10/Oct/2025:${time} +0000] "${request}" ${rest}`;
}

function mapAll(lines: string[], changed: Partial<MapperOptions> = {}): Mapped[] {
  const map = createMapper({ ...options, ...changed });
  return lines.map((raw) => map(parsed(raw), raw));
}

function parsed(raw: string): LogLine {
  const read = createLineParser()(raw);
  if (read.kind !== 'line') throw new Error(`not a line: ${raw}`);
  return read.line;
}

function eventsOf(lines: string[], changed: Partial<MapperOptions> = {}): PageView[] {
  return mapAll(lines, changed).flatMap((mapped) =>
    mapped.kind === 'event' ? [mapped.event] : [],
  );
}

describe('a page view', () => {
  it('has the facts of the line and its agent', () => {
    const [event] = eventsOf([
      logLine({
        request: 'GET /shop/kettles?utm_source=news&utm_medium=email HTTP/1.1',
        rest: `200 512 "https://www.google.com/search" "${chrome}"`,
      }),
    ]);
    expect(event).toMatchObject({ kind: 'page_view', occurTime: '2025-10-10T10:00:00.000Z' });
    expect(event?.autoProperties).toEqual({
      $url: { stringValue: 'https://example.org/shop/kettles?utm_source=news&utm_medium=email' },
      $hostname: { stringValue: 'example.org' },
      $pathname: { stringValue: '/shop/kettles' },
      $referrer: { stringValue: 'https://www.google.com/search' },
      $referrerDomain: { stringValue: 'www.google.com' },
      $utmSource: { stringValue: 'news' },
      $utmMedium: { stringValue: 'email' },
      $channel: { stringValue: 'email' },
      $browser: { stringValue: 'Chrome' },
      $browserVersion: { stringValue: '141.0.0.0' },
      $os: { stringValue: 'Android' },
      $osVersion: { stringValue: '14' },
      $device: { stringValue: 'Pixel 8' },
      $deviceType: { stringValue: 'mobile' },
      $mobile: { boolValue: true },
    });
    expect(event?.customProperties).toEqual({
      method: { stringValue: 'GET' },
      status: { intValue: '200' },
      bytes: { intValue: '512' },
    });
  });

  it('never carries the address, nor a hash that can be guessed without the secret', () => {
    const [mine] = eventsOf([logLine()]);
    const [other] = eventsOf([logLine()], { secret: 'prv_other' });
    expect(JSON.stringify(mine)).not.toContain('192.0.2.7');
    expect(other?.distinctId).not.toBe(mine?.distinctId);
    expect(other?.eventId).not.toBe(mine?.eventId);
  });

  it('has one visitor for one address and agent', () => {
    const lines = [logLine(), logLine({ time: '23:00:00' }), logLine({ address: '192.0.2.8' })];
    const [a, b, c] = eventsOf([...lines]);
    expect(a?.distinctId).toMatch(/^anon-[\w-]{22}$/);
    expect(b?.distinctId).toBe(a?.distinctId);
    expect(c?.distinctId).not.toBe(a?.distinctId);
  });

  it('takes an absolute URL, and the host that its line names', () => {
    const [proxied] = eventsOf([logLine({ request: 'GET http://other.example/x?y HTTP/1.1' })]);
    expect(proxied?.autoProperties).toMatchObject({
      ...{ $url: { stringValue: 'http://other.example/x' }, $pathname: { stringValue: '/x' } },
      $hostname: { stringValue: 'other.example' },
    });
    const [hosted] = eventsOf([`shop.example:443 ${logLine()}`]);
    expect(hosted?.autoProperties).toMatchObject({ $hostname: { stringValue: 'shop.example' } });
  });

  it('keeps its texts within the bound, whole code points only', () => {
    const [event] = eventsOf([logLine({ request: `GET /${'😀'.repeat(2_000)} HTTP/1.1` })]);
    const url = event?.autoProperties['$url'];
    expect(url).toHaveProperty('stringValue');
    if (url !== undefined && 'stringValue' in url) {
      expect([...url.stringValue]).toHaveLength(1_024);
      expect(Buffer.from(url.stringValue).toString()).toBe(url.stringValue);
    }
  });

  it('is marked where a bot made it', () => {
    const agents = [
      'Mozilla/5.0 (compatible; Googlebot/2.1)',
      'curl/8.5.0',
      'Tiny Tiny RSS/1.11',
      'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0.0.0 Safari/537.36',
    ];
    const mapped = mapAll(agents.map((agent) => logLine({ rest: `200 1 "-" "${agent}"` })));
    for (const one of mapped) {
      expect(one).toMatchObject({
        bot: true,
        event: { autoProperties: { $bot: { boolValue: true } } },
      });
    }
    expect(mapAll([logLine()])).toMatchObject([{ bot: false }]);
    // The common format tells no agent.
    const [common] = mapAll([logLine({ rest: '200 1' })]);
    expect(common).toMatchObject({ bot: false });
    expect(common).not.toHaveProperty('event.autoProperties.$bot');
  });

  it('sends of its address and referrer only what a page would', () => {
    const request = 'GET /a?token=secret&gclid=x&yclid=&utm_source=n&p=7&utm_x HTTP/1.1';
    const rest = '200 1 "https://user:pw@news.example/?q=me&utm_source=y&ScCid=z#top" "x"';
    const [event] = eventsOf([logLine({ request, rest })]);
    expect(event?.autoProperties).toMatchObject({
      $url: { stringValue: 'https://example.org/a?gclid=1&yclid=&utm_source=n&utm_x=' },
      $referrer: { stringValue: 'https://news.example/?utm_source=y&ScCid=1' },
    });
    const [named] = eventsOf([logLine({ request, rest })], { query: 'p,tok*n,gclid' });
    expect(named?.autoProperties['$url']).toEqual({
      stringValue: 'https://example.org/a?token=secret&gclid=1&yclid=&utm_source=n&p=7&utm_x=',
    });
  });

  it('has the scheme of its line, unless the user says it', () => {
    const line = { ...parsed(logLine()), scheme: 'http' };
    const url = (changed: Partial<MapperOptions>): unknown => {
      const mapped = createMapper({ ...options, ...changed })(line, 'raw');
      return mapped.kind === 'event' && mapped.event.autoProperties['$url'];
    };
    expect(url({ scheme: undefined })).toEqual({ stringValue: 'http://example.org/' });
    expect(url({ scheme: 'https' })).toEqual({ stringValue: 'https://example.org/' });
  });

  it('has the place of its address where somebody knows it', () => {
    const locate = (address: string) =>
      address === '192.0.2.7' ? { country: 'DE', city: 'Berlin' } : undefined;
    const [there, unknown] = eventsOf([logLine(), logLine({ address: '192.0.2.8' })], { locate });
    expect(there?.autoProperties).toMatchObject({ $country: { stringValue: 'DE' } });
    expect(unknown?.autoProperties).not.toHaveProperty('$country');
  });
});

describe('a line that is no page view', () => {
  it.each([
    ['POST /form HTTP/1.1', 200, 'method'],
    ['HEAD / HTTP/1.1', 200, 'method'],
    ['GET / HTTP/1.1', 301, 'status'],
    ['GET / HTTP/1.1', 404, 'status'],
    ['GET / HTTP/1.1', 500, 'status'],
    ['GET /style.css HTTP/1.1', 200, 'asset'],
    ['GET /a/b/photo.JPG?size=2 HTTP/1.1', 200, 'asset'],
    ['GET /robots.txt HTTP/1.1', 200, 'asset'],
  ])('%s answered with %i is left out: %s', (request, status, why) => {
    expect(mapAll([logLine({ request, rest: `${status} 1 "-" "x"` })])).toEqual([
      { kind: 'skipped', why },
    ]);
  });

  it.each(['/', '/a/', '/a.html', '/v1.2/notes', '/x.php?file=a.png', '/a.xhtml'])(
    '%s is a page',
    (path) => {
      const line = parsed(logLine({ request: `GET ${path} HTTP/1.1` }));
      expect(skipReason(line, nowMs)).toBeUndefined();
      expect(skipReason({ ...line, status: 304 }, nowMs)).toBeUndefined();
    },
  );

  it('is an event of the kind request with --all, unless no instance takes its time', () => {
    const asset = logLine({ request: 'GET /style.css HTTP/1.1' });
    expect(eventsOf([asset], { all: true })).toMatchObject([{ kind: 'request' }]);
    const old = asset.replace('2025', '1999');
    expect(mapAll([old], { all: true })).toEqual([{ kind: 'skipped', why: 'time' }]);
  });
});

describe('ids', () => {
  const lines = [logLine(), logLine(), logLine({ time: '10:00:01' }), logLine()];

  it('are the same for the same file again, and differ for equal lines', () => {
    const first = eventsOf(lines).map(({ eventId }) => eventId);
    expect(new Set(first).size).toBe(4);
    expect(eventsOf(lines).map(({ eventId }) => eventId)).toEqual(first);
    for (const id of first) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('are the same for a copy of the file that is imported with it', () => {
    const family = createAccessLog({ ...options, client: undefined });
    const idsOf = (file: readonly string[]): string[] => {
      const ids: string[] = [];
      const sink = { event: () => {}, call: () => {} };
      family.begin?.();
      for (const line of file) {
        family.decode(line, { ...sink, ready: ({ eventId }) => ids.push(eventId) });
      }
      return ids;
    };
    const first = idsOf(lines);
    expect(new Set(first).size).toBe(4);
    expect(idsOf(lines)).toEqual(first);
  });

  it('do not change when the log has grown', () => {
    const grown = eventsOf([...lines, logLine({ time: '11:00:00' })]);
    expect(grown.slice(0, 4)).toEqual(eventsOf(lines));
  });
});

const realLog = testData('visits', 'apache_access.log.gz');

it.runIf(hasTestData)('a real log of ten thousand lines', async () => {
  const map = createMapper({ ...options, hostname: 'semicomplete.com', scheme: 'http' });
  const events: PageView[] = [];
  const readLine = createLineReader();
  const skipped: Record<string, number> = {};
  let bots = 0;
  for (const { number, value } of await inputRows(realLog, 'lines')) {
    const read = readLine({ number, text: String(value) });
    if (read?.kind !== 'line') continue;
    const mapped = map(read.line, read.text);
    if (mapped.kind === 'skipped') skipped[mapped.why] = (skipped[mapped.why] ?? 0) + 1;
    else {
      events.push(mapped.event);
      if (mapped.bot) bots++;
    }
  }
  expect(events.length + Object.values(skipped).reduce((sum, n) => sum + n, 0)).toBe(9_999);
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
  expect({ events: events.length, skipped, bots }).toMatchInlineSnapshot(`
    {
      "bots": 2076,
      "events": 3773,
      "skipped": {
        "asset": 5807,
        "method": 48,
        "status": 371,
      },
    }
  `);
});
