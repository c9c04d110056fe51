import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { importFamilies } from '../control/imports/import-rpc.ts';
import { sampleFamilies } from '../test/harness/history/sample-rows.ts';
import { hasTestData, testData } from '../test/harness/test-data.ts';
import { familyNames } from './families.ts';
import { openInputs } from './files/open-input.ts';
import { tellFamily } from './tell-family.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-tell-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function told(...lines: string[]): Promise<string | undefined> {
  const path = join(directory, 'file');
  writeFileSync(path, lines.join('\n'));
  return tellFamily(await openInputs([path]));
}

const samples = sampleFamilies('00000000-0000-4000-8000-000000000000');

it('page and command know the same families', () => {
  expect([...importFamilies].sort()).toEqual([...familyNames].sort());
});

it.runIf(hasTestData).each(samples)('a file of $family tells it', async ({ family, file }) => {
  expect(await tellFamily(await openInputs([testData('history', file)]))).toBe(family);
});

it
  .runIf(hasTestData)
  .each([
    ['posthog', 'posthog-batch.parquet'],
    ['posthog', 'posthog-batch.jsonl.gz'],
    ['amplitude', 'amplitude-export.json'],
    ['snowplow', 'snowplow-enriched.tsv'],
    ...['alb.log', 'caddy.jsonl', 'traefik.jsonl', 'haproxy.log', 'iis-u_ex260304.log'].map(
      (file) => ['access-log', file],
    ),
  ])('a file of %s tells it in its other forms', async (family, file) => {
  expect(await tellFamily(await openInputs([testData('history', file)]))).toBe(family);
});

it.each([
  [
    'access-log',
    '192.0.2.7 - - [04/Mar/2026:09:15:00 +0000] "GET /x HTTP/1.1" 200 12 "-" "Mozilla/5.0"',
  ],
  ['millrace', '{"event_id":"1","kind":"a","distinct_id":"b","occur_time":"c","browser":null}'],
  ['millrace', '{"profile_id":"1","external_id":"a","distinct_ids":[],"traits":{}}'],
  [
    'plausible',
    '"date","visitors","pageviews","bounces","visits","visit_duration"',
    '"2026-03-03",12,31,5,14,1830',
  ],
  [
    'plausible',
    '"date","name","link_url","path","visitors","events"',
    '"2026-03-03","a","","/",1,2',
  ],
  ['umami', 'website_id,url_path', '1,/kettles[', '1,/{'],
  ['access-log', '192.0.2.7 - - [04/Mar/2026:09:15:00 +0000] "GET /[{ HTTP/1.1" 200 12 "-" "a[{"'],
  ['posthog', 'damaged {', '{"uuid":"1","event":"a","distinct_id":"b"}'],
  ['mixpanel', '{"event":"a","properties":{"time":1772615700,"distinct_id":"b"}}'],
  [
    'rudderstack',
    '{"type":"track","messageId":"1","context":{"library":{"name":"RudderLabs JavaScript SDK"}}}',
  ],
  ['segment', '{"type":"track","messageId":"1","context":{"library":{"name":"analytics.js"}}}'],
])('%s is told by a row', async (family, ...lines) => {
  expect(await told(...lines)).toBe(family);
});

it.each([[''], ['hello'], ['{"a":1}'], ['[]'], ['a,b,c', '1,2,3']])(
  'nothing is guessed of %j',
  async (...lines) => {
    expect(await told(...lines)).toBeUndefined();
  },
);
