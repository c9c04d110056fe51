// Addresses, places and bot verdicts from the headers of each CDN and proxy, and from strangers who forge them.

import { BlockList, isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { CdnPreset } from '../../platform/config.ts';
import { type CallerOptions, CallerReader } from './caller.ts';

function networks(...list: string[]): BlockList {
  const trusted = new BlockList();
  for (const network of list) {
    const [address = '', bits = ''] = network.split('/');
    trusted.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return trusted;
}

const proxy = '10.1.2.3';
const stranger = '198.51.100.7';

function reader(options: Partial<CallerOptions> = {}): CallerReader {
  return new CallerReader({
    trustedProxies: networks('10.0.0.0/8', 'fd00::/8'),
    proxyHops: 0,
    botScoreHeader: 'cf-bot-score',
    verifiedBotHeader: 'cf-verified-bot',
    ...options,
  });
}

describe('the address', () => {
  const xff = (value: string) => ({ 'x-forwarded-for': value });
  const rows: [string, string, Partial<CallerOptions>, Record<string, string>, string][] = [
    ['the peer’s, without configuration', stranger, {}, xff('1.1.1.1'), stranger],
    ['the peer’s, from its IPv6-mapped form', `::ffff:${stranger}`, {}, {}, stranger],
    ['the peer’s, without its zone', 'fe80::1%eth0', {}, {}, 'fe80::1'],
    [
      'a stranger’s own, whatever it forwards',
      stranger,
      { proxyHops: 1 },
      xff('1.1.1.1'),
      stranger,
    ],
    [
      'a stranger’s own, whatever CDN header it sends',
      stranger,
      { cdn: 'cloudflare' },
      { 'cf-connecting-ip': '1.1.1.1' },
      stranger,
    ],
    ['one hop: the last entry', proxy, { proxyHops: 1 }, xff('6.6.6.6, 1.1.1.1'), '1.1.1.1'],
    [
      'behind a proxy with a mapped address',
      `::ffff:${proxy}`,
      { proxyHops: 1 },
      xff('6.6.6.6, 1.1.1.1'),
      '1.1.1.1',
    ],
    ['behind an IPv6 proxy', 'fd00::9', { proxyHops: 1 }, xff('2001:db8::5'), '2001:db8::5'],
    [
      'two hops: not the spoofed entries further left',
      proxy,
      { proxyHops: 2 },
      xff('6.6.6.6, 1.1.1.1, 10.9.9.9'),
      '1.1.1.1',
    ],
    [
      'fewer entries than hops: the first entry',
      proxy,
      { proxyHops: 3 },
      xff('1.1.1.1, 10.9.9.9'),
      '1.1.1.1',
    ],
    ['with a port', proxy, { proxyHops: 1 }, xff('1.1.1.1:5678'), '1.1.1.1'],
    ['IPv6 with a port', proxy, { proxyHops: 1 }, xff('[2001:db8::5]:5678'), '2001:db8::5'],
    [
      'nonsense in the header: the proxy’s',
      proxy,
      { proxyHops: 1 },
      xff('1.1.1.1, unknown'),
      proxy,
    ],
    ['an empty header: the proxy’s', proxy, { proxyHops: 1 }, xff(''), proxy],
    ['no header: the proxy’s', proxy, { proxyHops: 1 }, {}, proxy],
    ['no hops: the proxy’s', proxy, {}, xff('1.1.1.1'), proxy],
    [
      'the CDN’s header before the forwarded one',
      proxy,
      { cdn: 'cloudflare', proxyHops: 1 },
      { 'cf-connecting-ip': '1.1.1.1', ...xff('2.2.2.2') },
      '1.1.1.1',
    ],
    [
      'the forwarded header where the CDN’s is missing',
      proxy,
      { cdn: 'akamai', proxyHops: 1 },
      xff('2.2.2.2'),
      '2.2.2.2',
    ],
    [
      'not from another CDN’s header',
      proxy,
      { cdn: 'cloudflare' },
      { 'fastly-client-ip': '6.6.6.6' },
      proxy,
    ],
    [
      'CloudFront, IPv4',
      proxy,
      { cdn: 'cloudfront' },
      { 'cloudfront-viewer-address': '1.1.1.1:46532' },
      '1.1.1.1',
    ],
    [
      'CloudFront, IPv6',
      proxy,
      { cdn: 'cloudfront' },
      { 'cloudfront-viewer-address': '2001:db8::5:46532' },
      '2001:db8::5',
    ],
    ['Fastly', proxy, { cdn: 'fastly' }, { 'fastly-client-ip': '1.1.1.1' }, '1.1.1.1'],
    ['Vercel', proxy, { cdn: 'vercel' }, { 'x-vercel-forwarded-for': '1.1.1.1' }, '1.1.1.1'],
    ['Vercel, its second header', proxy, { cdn: 'vercel' }, { 'x-real-ip': '1.1.1.1' }, '1.1.1.1'],
    ['Akamai', proxy, { cdn: 'akamai' }, { 'true-client-ip': '1.1.1.1' }, '1.1.1.1'],
    [
      'GCP: the entry before the load balancer’s',
      proxy,
      { cdn: 'gcp' },
      xff('6.6.6.6,1.1.1.1,34.1.1.1'),
      '1.1.1.1',
    ],
  ];
  for (const [name, peerAddress, options, headers, address] of rows) {
    it(name, () => {
      expect(reader(options).address({ peerAddress, headers })).toBe(address);
    });
  }

  it.each([
    [
      '2001:db8::5',
      ['2001:db8::5', '2001:DB8::5', '2001:db8:0:0:0:0:0:5', '2001:0db8::0005', '[2001:DB8:0::5]'],
    ],
    [
      '198.51.100.7',
      [
        '::ffff:198.51.100.7',
        '::FFFF:198.51.100.7',
        '::ffff:c633:6407',
        '0:0:0:0:0:FFFF:c633:6407',
      ],
    ],
    ['::1', ['::1', '0:0::1', '[0:0:0:0:0:0:0:1]:443', '::0.0.0.1']],
    ['fe80::1', ['fe80::1%eth0', 'FE80:0::1', '[fe80::1%eth0]:443']],
  ])('%s is one visitor, however it is written', (address, spellings) => {
    const behind = reader({ proxyHops: 1 });
    for (const text of spellings) {
      expect(behind.address({ peerAddress: proxy, headers: xff(text) })).toBe(address);
      if (!text.startsWith('[')) {
        expect(reader().address({ peerAddress: text, headers: {} })).toBe(address);
      }
      const edge = reader({ cdn: 'cloudfront' });
      const headers = { 'cloudfront-viewer-address': `${text.replace(/^\[|\].*$/g, '')}:46532` };
      expect(edge.address({ peerAddress: proxy, headers })).toBe(address);
    }
  });

  it('is undefined where the connection is gone', () => {
    expect(reader().address({ peerAddress: undefined, headers: {} })).toBeUndefined();
  });
});

/** node:http reads UTF-8 bytes as Latin-1. */
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('the place', () => {
  const rows: [CdnPreset, Record<string, string>, object | undefined][] = [
    [
      'cloudflare',
      {
        'cf-ipcountry': 'pl',
        'cf-region': latin1('Łódź Voivodeship'),
        'cf-ipcity': latin1('Łódź'),
        'cf-ipcontinent': 'EU',
        'cf-iplatitude': '51.77058',
        'cf-iplongitude': '19.47395',
        'cf-timezone': 'Europe/Warsaw',
      },
      {
        country: 'PL',
        region: 'Łódź Voivodeship',
        city: 'Łódź',
        continent: 'EU',
        latitude: 51.77058,
        longitude: 19.47395,
        timezone: 'Europe/Warsaw',
      },
    ],
    ['cloudflare', { 'cf-ipcountry': 'XX' }, undefined],
    ['cloudflare', { 'cf-ipcountry': 'T1' }, undefined],
    ['cloudflare', { 'cf-ipcountry': 'Poland', 'cf-iplatitude': '91' }, undefined],
    [
      'cloudfront',
      {
        'cloudfront-viewer-country': 'JP',
        'cloudfront-viewer-country-region-name': 'Tokyo',
        'cloudfront-viewer-city': 'Shibuya',
        'cloudfront-viewer-latitude': '35.65',
        'cloudfront-viewer-longitude': '-139.7',
        'cloudfront-viewer-time-zone': 'Asia/Tokyo',
      },
      {
        country: 'JP',
        region: 'Tokyo',
        city: 'Shibuya',
        latitude: 35.65,
        longitude: -139.7,
        timezone: 'Asia/Tokyo',
      },
    ],
    [
      'fastly',
      { 'client-geo-country': 'US', 'client-geo-city': '?', 'client-geo-continent': 'NA' },
      { country: 'US', continent: 'NA' },
    ],
    [
      'fastly',
      { 'client-geo-country': 'AR', 'client-geo-region': 'B', 'client-geo-city': ' - ' },
      { country: 'AR', region: 'B' },
    ],
    ['cloudflare', { 'cf-ipcity': latin1('Å'), 'cf-region': ' ' }, { city: 'Å' }],
    [
      'vercel',
      { 'x-vercel-ip-country': 'BR', 'x-vercel-ip-city': 'S%C3%A3o%20Paulo' },
      { country: 'BR', city: 'São Paulo' },
    ],
    ['vercel', { 'x-vercel-ip-city': '100%' }, { city: '100%' }],
    [
      'akamai',
      {
        'x-akamai-edgescape':
          'georegion=246,country_code=US,region_code=CA,city=SANJOSE,' +
          'lat=37.3353,long=-121.8938,timezone=PST,continent=NA',
      },
      {
        country: 'US',
        region: 'CA',
        city: 'SANJOSE',
        continent: 'NA',
        latitude: 37.3353,
        longitude: -121.8938,
      },
    ],
    [
      'gcp',
      {
        'x-client-region': 'US',
        'x-client-region-subdivision': 'USCA',
        'x-client-city': 'Mountain View',
        'x-client-city-lat-long': '37.386051,-122.083851',
      },
      {
        country: 'US',
        region: 'USCA',
        city: 'Mountain View',
        latitude: 37.386051,
        longitude: -122.083851,
      },
    ],
  ];
  for (const [cdn, headers, location] of rows) {
    it(`${cdn}: ${JSON.stringify(location)}`, () => {
      const { location: read } = reader({ cdn }).read({ peerAddress: proxy, headers }, 'public');
      expect(read).toEqual(location);
    });
  }

  const fromDatabase = (address: string) => ({ city: `city of ${address}` });

  it('comes from the database where the CDN sends none', () => {
    const caller = reader({ cdn: 'fastly', locate: fromDatabase });
    const headers = { 'fastly-client-ip': '1.1.1.1' };
    expect(caller.read({ peerAddress: proxy, headers }, 'public').location).toEqual({
      city: 'city of 1.1.1.1',
    });
  });

  it('never comes from a stranger’s headers', () => {
    const headers = { 'cf-ipcountry': 'PL', 'cf-connecting-ip': '1.1.1.1' };
    const request = { peerAddress: stranger, headers };
    expect(reader({ cdn: 'cloudflare' }).read(request, 'public')).toEqual({});
    const withDatabase = reader({ cdn: 'cloudflare', locate: fromDatabase });
    expect(withDatabase.read(request, 'public').location).toEqual({
      city: `city of ${stranger}`,
    });
  });
});

describe('a request’s context', () => {
  const headers = {
    'user-agent': 'Mozilla/5.0',
    'cf-bot-score': '42',
    'cf-verified-bot': 'true',
    'cf-ipcountry': 'PL',
    'cf-connecting-ip': '1.1.1.1',
  };
  const caller = reader({ cdn: 'cloudflare' });

  it('holds everything for a public key', () => {
    expect(caller.read({ peerAddress: proxy, headers }, 'public')).toEqual({
      userAgent: 'Mozilla/5.0',
      botScore: 42,
      verifiedBot: true,
      location: { country: 'PL' },
    });
  });

  it('holds the bot verdict alone for a private key', () => {
    expect(caller.read({ peerAddress: proxy, headers }, 'private')).toEqual({
      botScore: 42,
      verifiedBot: true,
    });
  });

  it('holds no bot verdict from a stranger', () => {
    expect(caller.read({ peerAddress: stranger, headers }, 'public')).toEqual({
      userAgent: 'Mozilla/5.0',
    });
  });

  it('takes the bot verdict from the configured headers', () => {
    const other = reader({ botScoreHeader: 'x-score', verifiedBotHeader: 'x-verified' });
    const request = {
      peerAddress: proxy,
      headers: { ...headers, 'x-score': '7', 'x-verified': '0' },
    };
    expect(other.read(request, 'private')).toEqual({ botScore: 7, verifiedBot: false });
  });

  it('holds no verdict from malformed values', () => {
    const request = {
      peerAddress: proxy,
      headers: { 'cf-bot-score': '4.2', 'cf-verified-bot': 'yes' },
    };
    expect(caller.read(request, 'private')).toEqual({});
  });

  it('holds at most 1,024 characters of a user agent', () => {
    const request = { peerAddress: proxy, headers: { 'user-agent': 'x'.repeat(5_000) } };
    expect(caller.read(request, 'public').userAgent).toHaveLength(1_024);
  });

  it('never holds the address', () => {
    const locate = () => ({ city: 'London' });
    const all = reader({ cdn: 'cloudflare', proxyHops: 1, locate });
    const request = { peerAddress: proxy, headers: { ...headers, 'x-forwarded-for': '1.1.1.1' } };
    const text = JSON.stringify(all.read(request, 'public'));
    for (const address of ['1.1.1.1', proxy]) expect(text).not.toContain(address);
  });
});
