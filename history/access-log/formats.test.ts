// Every format that the import takes, in lines as each server's documentation has them, and which line is refused why.

import { describe, expect, it } from 'vitest';
import { createLineParser } from './access-log.ts';
import type { ClientField } from './client-address.ts';
import type { LogLine, Parsed } from './log-line.ts';

function parseAll(lines: readonly string[], client?: ClientField): Parsed {
  const parse = createLineParser(client);
  return lines.map((line) => parse(line)).at(-1) ?? { kind: 'none' };
}

function taken(text: string, client?: ClientField): Partial<LogLine> | string {
  const parsed = parseAll(text.split('\n'), client);
  return parsed.kind === 'line' ? parsed.line : parsed.kind === 'bad' ? parsed.why : 'none';
}

const at = Date.UTC(2026, 9, 10, 11, 55, 36);
const chrome =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const from = 'https://news.example/a?b=c';
const plain = `203.0.113.9 - - [10/Oct/2026:13:55:36 +0200] "GET /a?b=c HTTP/1.1" 200 512 "${from}" "${chrome}"`;
const expected = {
  ...{ address: '203.0.113.9', timeMs: at, method: 'GET', target: '/a?b=c', status: 200 },
  ...{ bytes: 512, referrer: from, userAgent: chrome },
};

describe('one request', () => {
  const hosted = { ...expected, hostname: 'shop.example' };
  const caddy = {
    level: 'info',
    ts: at / 1_000,
    logger: 'http.log.access.log0',
    msg: 'handled request',
    request: {
      ...{
        remote_ip: '10.0.0.1',
        remote_port: '41342',
        client_ip: '203.0.113.9',
        proto: 'HTTP/2.0',
      },
      ...{ method: 'GET', host: 'shop.example', uri: '/a?b=c' },
      headers: { 'User-Agent': [chrome], Referer: [from] },
    },
    ...{ bytes_read: 0, user_id: '', duration: 0.0009, size: 512, status: 200, resp_headers: {} },
  };
  const traefik = {
    ...{ ClientAddr: '203.0.113.9:50312', ClientHost: '203.0.113.9', ClientPort: '50312' },
    ...{ ClientUsername: '-', DownstreamContentSize: 512, DownstreamStatus: 200, Duration: 90_000 },
    ...{ RequestHost: 'shop.example', RequestMethod: 'GET', RequestPath: '/a?b=c' },
    ...{ RequestProtocol: 'HTTP/2.0', RequestScheme: 'http', StartUTC: '2026-10-10T11:55:36Z' },
    ...{ 'request_User-Agent': chrome, request_Referer: from, level: 'info', msg: '' },
  };
  const percent = (text: string): string => encodeURIComponent(text).replaceAll('%2F', '/');
  const cloudfront = [
    '#Version: 1.0',
    '#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query x-host-header cs-protocol',
    `2026-10-10\t11:55:36\tFRA50-C1\t512\t203.0.113.9\tGET\td111.cloudfront.net\t/a\t200\t${percent(from)}\t${percent(chrome)}\tb=c\tshop.example\thttps`,
  ].join('\n');
  const iis = [
    '#Software: Microsoft Internet Information Services 10.0',
    '#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status sc-bytes time-taken',
    `2026-10-10 11:55:36 10.0.0.1 GET /a b=c 443 - 203.0.113.9 ${chrome.replaceAll(' ', '+')} ${from} 200 0 0 512 15`,
  ].join('\n');
  const cookie = JSON.stringify({
    ...{ date: '2026-10-10', time: '11:55:36', 'c-ip': '203.0.113.9', 'cs-method': 'GET' },
    ...{ 'cs-uri-stem': '/a', 'cs-uri-query': 'b=c', 'sc-status': '200', 'sc-bytes': '512' },
    ...{ 'cs(User-Agent)': percent(chrome), 'cs(Referer)': percent(from) },
    ...{ 'x-host-header': 'shop.example', 'cs-protocol': 'https' },
  });
  const haproxy = `203.0.113.9:33317 [10/Oct/2026:11:55:36.655] http-in~ static/srv1 10/0/30/69/109 200 512 - - ---- 1/1/1/1/0 0/0 {shop.example|${chrome}|${from}} {} "GET /a?b=c HTTP/1.1"`;

  it.each<[string, string, Partial<LogLine>]>([
    ['combined', plain, expected],
    ['behind syslog', `<134>Oct  1 13:55:36 web-1 nginx: ${plain}`, expected],
    ['behind rsyslog', `2026-10-10T13:55:36.123456+02:00 web-1 nginx[12]: ${plain}`, expected],
    ['behind RFC 5424', `<190>1 2026-10-10T11:55:36Z web-1 nginx 12 - - ${plain}`, expected],
    ['of a container', `2026-10-10T11:55:36.669794202Z ${plain}`, expected],
    ['of a pod', `2026-10-10T13:55:36.669794202+02:00 stdout F ${plain}`, expected],
    ['with its host', `shop.example ${plain}`, hosted],
    ['with its host and port', `shop.example:443 ${plain}`, hosted],
    ['of Traefik', `${plain} 17 "web@docker" "http://172.18.0.3:80" 2ms`, expected],
    ['of Traefik in JSON', JSON.stringify(traefik), { ...hosted, scheme: 'http' }],
    ['of Caddy', JSON.stringify(caddy), hosted],
    ['of CloudFront', cloudfront, { ...hosted, scheme: 'https' }],
    ['of CloudFront, older', cloudfront.replaceAll('%20', '%2520'), { ...hosted, scheme: 'https' }],
    ['of CloudFront in JSON', cookie, { ...hosted, scheme: 'https' }],
    ['of IIS', iis, expected],
    ['of HAProxy', haproxy, { ...expected, timeMs: at + 655 }],
    [
      'of HAProxy behind syslog',
      `Oct 10 11:55:36 lb haproxy[14389]: ${haproxy}`,
      { ...expected, timeMs: at + 655 },
    ],
  ])('%s', (_, text, fields) => {
    expect(taken(text)).toEqual(fields);
  });

  it('of a load balancer of AWS', () => {
    const line = `h2 2026-10-10T11:55:36.186641Z app/my-lb/50dc6c495c0c9188 203.0.113.9:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 512 "GET https://shop.example:443/a?b=c HTTP/2.0" "${chrome}" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:1:targetgroup/t/7 "Root=1-58337262-36d228ad5d99923122bbe354" "shop.example" "arn:aws:acm:us-east-2:1:certificate/1" 0 2026-10-10T11:55:36.000000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"`;
    const { referrer, ...rest } = expected;
    expect(taken(line)).toEqual({
      ...{ ...rest, target: 'https://shop.example:443/a?b=c', timeMs: at + 186 },
    });
  });
});

describe('the client', () => {
  const behind = (first: string, last: string): string =>
    `${plain.replace('203.0.113.9', first)} "${last}"`;

  it('of each request behind a balancer is in the last field', () => {
    const addresses = Array.from({ length: 40 }, (_, n) => `203.0.113.${n}`);
    const lines = addresses.map((address) => taken(behind('10.0.0.5', address)));
    expect(lines).toEqual(addresses.map((address) => ({ ...expected, address })));
    expect(taken(behind('10.0.0.5', '10.9.9.9, 203.0.113.7, 198.51.100.2'))).toMatchObject({
      address: '203.0.113.7',
    });
    expect(taken(behind('10.0.0.5', '-'))).toMatchObject({ address: '10.0.0.5' });
    expect(taken(behind('203.0.113.9', '10.9.9.9'))).toMatchObject({ address: '203.0.113.9' });
  });

  it('is asked for where two may be it', () => {
    const line = behind('198.51.100.2', '203.0.113.7');
    expect(taken(line)).toBe('clients');
    expect(taken(line, 'last')).toMatchObject({ address: '203.0.113.7' });
    expect(taken(line, 1)).toMatchObject({ address: '198.51.100.2' });
    expect(taken(behind('198.51.100.2', '-'), 'last')).toMatchObject({ address: '198.51.100.2' });
  });

  it('is the field that the user names', () => {
    const named = `crawl-1.example.com - - ${plain.slice(16)}`;
    expect(taken(named)).toBe('client');
    expect(taken(named, 1)).toMatchObject({ address: 'crawl-1.example.com' });
    const w3c = '#Fields: date time cs-method cs-uri-stem sc-status c-ip X-Forwarded-For\n';
    const row = '2026-10-10 11:55:36 GET / 200 10.0.0.1 203.0.113.7';
    expect(taken(w3c + row)).toMatchObject({ address: '10.0.0.1' });
    expect(taken(w3c + row, 'X-Forwarded-For')).toMatchObject({ address: '203.0.113.7' });
    const request = {
      ...{ method: 'GET', uri: '/', remote_ip: '10.0.0.1' },
      headers: { 'X-Forwarded-For': ['203.0.113.7'] },
    };
    const json = JSON.stringify({ ts: 1, status: 200, request });
    expect(taken(json, 'request>headers>X-Forwarded-For')).toMatchObject({
      address: '203.0.113.7',
    });
  });
});

describe('a line is refused', () => {
  it.each([
    ['format', 'GET /a 200'],
    ['format', '{a} [b] c'],
    ['client', `shop.example - - ${plain.slice(16)}`],
    ['request', plain.slice(0, -20)],
    ['request', plain.replace('GET /a?b=c HTTP/1.1', String.raw`\x16\x03\x01`)],
    ['request', '{"RequestMethod":"GET"'],
    ['json', '{"remote_addr":"203.0.113.9","request":"GET / HTTP/1.1","status":200}'],
    ['columns', '2026-10-10 11:55:36 10.0.0.1 GET / - 443 - 203.0.113.9 x - 200'],
    ['columns', '#Fields: date time c-ip\n2026-10-10 11:55:36 203.0.113.9'],
    ['client', '#Fields: date time cs-method cs-uri-stem sc-status\n2026-10-10 11:55:36 GET / 200'],
    ['request', '#Fields: date time c-ip\n2026-10-10 11:55:36'],
    ['none', '#Version: 1.0'],
  ])('%s: %s', (why, text) => {
    expect(taken(text)).toBe(why);
  });
});
