import { expect, it } from 'vitest';
import { readServerUrl, socketUrl } from './server-url.ts';
import { readStoreUrls, splitGroups } from './store-urls.ts';

function read(text: string, shards = 4): string[] | string[][] {
  const problems: string[] = [];
  const taken = readStoreUrls(text, shards, problems);
  return taken === undefined ? problems : splitGroups(taken);
}

it('a setting names one server, several of one group, or several groups', () => {
  const [a, b] = ['http://u:p@a:8123/millrace', 'https://u:p@b:8443/millrace'];
  expect(read(a)).toEqual([[a]]);
  expect(read(`${a}, ${b}`)).toEqual([[a, b]]);
  expect(read(`${a},${b} ; http://c/x`)).toEqual([[a, b], ['http://c/x']]);
  const odd = socketUrl('/a,b;c/engine.sock', 'millrace', 'secret');
  expect(read(odd)).toEqual([[odd]]);
  expect(readServerUrl(odd).socketPath).toBe('/a,b;c/engine.sock');
});

it('a setting that cannot be is refused with its rule, and its password is not told', () => {
  const mustBe = 'CLICKHOUSE_URL must be a URL that starts with http:// or https:// or unix://';
  for (const text of [
    'host:8123',
    'ftp://u:secret@a/x',
    'http://a/x,',
    'http://a/x,,http://b/x',
    'http://a/x;',
  ]) {
    expect(read(text)).toEqual([mustBe]);
  }
  const a = 'http://u:secret@a:8123/x';
  for (const between of [',', ';']) {
    const twice = ['CLICKHOUSE_URL names a database of a server twice'];
    expect(read(`${a}${between}http://a:8123/x`)).toEqual(twice);
  }
  const databases = ['CLICKHOUSE_URL must name one database at all servers of a group'];
  expect(read(`${a},http://b:8123/y`)).toEqual(databases);
  const ten = Array.from({ length: 10 }, (_, n) => `http://host-${n}/x`).join();
  expect(read(ten)).toEqual(['CLICKHOUSE_URL may name 9 servers of one group']);
  expect(read(`${a};http://a:8123/y;http://b/x`, 2)).toEqual([
    'CLICKHOUSE_URL names 3 groups, and MILLRACE_SHARDS is 2: each group needs a shard',
  ]);
});
