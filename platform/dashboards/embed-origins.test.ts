// Which texts are origins that a policy may name, and which origins the page of a token has.

import { expect, it } from 'vitest';
import { createEmbedOrigins, embedOrigin } from './embed-origins.ts';
import type { ShareDirectory } from './share-directory.ts';

it.each([
  ['https://example.com', 'https://example.com'],
  [' HTTPS://Example.com/ ', 'https://example.com'],
  ['https://example.com:443', 'https://example.com'],
  ['https://shop.example.com:8443', 'https://shop.example.com:8443'],
  ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
])('%j is kept as %j', (text, origin) => {
  expect(embedOrigin(text)).toBe(origin);
});

it.each([
  ...['', 'example.com', '*', 'null', 'https:', 'https://', 'https://*.example.com', "'self'"],
  ...['http://example.com', 'http://localhost.example.com', 'http://[::1]:3000', 'ftp://a.example'],
  ...['https://example.com/path', 'https://example.com?a', 'https://example.com#a', 'data:,a'],
  ...['https://a@example.com', 'https://example.com;script-src', 'https://example.com,https://b.c'],
  ...['https://a.example https://b.example', "https://a.example;'none'", 'https://a.example\nb: c'],
  ...['https://a\tb.example', 'https:\\\\example.com', 'https://a..example', 'https://-a.example'],
])('%j is none', (text) => {
  expect(embedOrigin(text)).toBeUndefined();
});

it('names none for a token that has ended, that nobody knows, and while the records may be old', () => {
  let nowMs = 0;
  let unconfirmedMs = 0;
  const share = {
    ...{ id: 'share', dashboardId: 'board', displayName: '', tokenHash: '', createTime: '' },
    ...{ embedOrigins: ['https://a.example'], expireTimeMs: 1_000 },
  };
  const shares: ShareDirectory = {
    find: (token) => (token === 'known' ? { projectId: 'p', share, revision: 0 } : undefined),
    unconfirmedMs: () => unconfirmedMs,
  };
  const originsOf = createEmbedOrigins(shares, { nowMs: () => nowMs });
  expect([originsOf('known'), originsOf('other')]).toEqual([['https://a.example'], []]);
  unconfirmedMs = 10_001;
  expect(originsOf('known')).toEqual([]);
  unconfirmedMs = 0;
  nowMs = 1_000;
  expect(originsOf('known')).toEqual([]);
});
