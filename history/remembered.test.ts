// What the mapping remembers from event to event changes nothing: each recorded row and request becomes the same events
// in whatever order they come, the first time and again. Skipped where the outside test data is absent.

import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventDraft } from '../ingest/compat/mapping/event-draft.ts';
import { type RecordedRequest, requestOf } from '../test/harness/requests/recorded-sdk.ts';
import { hasTestData, testData } from '../test/harness/test-data.ts';

const nowMs = Date.UTC(2026, 10, 28);
const projectId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

/** The mapping as a process has it that has mapped nothing yet. */
async function mapping() {
  const [families, { checkEvents }, { openInputs }, { readRows }] = await Promise.all([
    import('./families.ts'),
    import('./events/check-events.ts'),
    import('./files/open-input.ts'),
    import('./files/rows.ts'),
  ]);
  const [{ endpointsOf }, { jsonTextOf, readSentJson, dataText }] = await Promise.all([
    import('../ingest/compat/families.ts'),
    import('../ingest/compat/mapping/sent-body.ts'),
  ]);
  return {
    ...{ ...families, checkEvents, openInputs, readRows },
    ...{ endpointsOf, jsonTextOf, readSentJson, dataText },
  };
}

type Mapping = Awaited<ReturnType<typeof mapping>>;

/** What a sample becomes, as texts. */
type Sample = (mapping: Mapping) => Promise<string[]>;

const exports: readonly (readonly [family: string, file: string])[] = [
  ['posthog', 'posthog-batch.jsonl'],
  ['posthog', 'posthog-batch.parquet'],
  ['mixpanel', 'mixpanel-utc.jsonl'],
  ['amplitude', 'amplitude-export.json'],
  ['segment', 'segment-s3.jsonl'],
  ['rudderstack', 'rudderstack-s3.jsonl'],
  ['ga4', 'ga4-events.jsonl'],
  ['snowplow', 'snowplow-enriched.tsv'],
  ['matomo', 'matomo-visits.json'],
  ['umami', 'umami-cloud.zip'],
];

function exportSample(name: string, file: string): Sample {
  return async ({ familyOf, checkEvents, openInputs, readRows }) => {
    const family = familyOf(name, undefined);
    if (family === undefined) throw new Error(`no family ${name}`);
    const told: string[] = [];
    const drafts: { draft: EventDraft; number: number }[] = [];
    const inputs = await openInputs([testData('history', file)]);
    for (const input of (await family.order?.(inputs)) ?? inputs) {
      for await (const rows of readRows(input, family.form, () => {})) {
        for (const { value, number } of rows) {
          const why = family.decode(value, {
            event: (draft) => drafts.push({ draft, number }),
            ready: ({ text }) => told.push(text),
            call: (call, timeMs) => told.push(JSON.stringify([call, timeMs])),
          });
          if (why !== undefined) told.push(why);
        }
      }
    }
    const context = { projectId, family: name, receiveTimeMs: nowMs, correctsClock: false };
    const ready = checkEvents(drafts, context, (number, violation, isKept) =>
      told.push(JSON.stringify([number, violation, isKept])),
    );
    return [...told, ...ready.map(({ text }) => text)];
  };
}

/** Of each endpoint that shares the path: which of them a project takes matters to none. */
function requestSample(recorded: RecordedRequest): Sample {
  const { path, init } = requestOf(recorded, 'no key', 'no key');
  const { pathname, searchParams: query } = new URL(path, 'http://localhost');
  return async ({ endpointsOf, jsonTextOf, readSentJson, dataText }) => {
    const head = { path: pathname, query, headers: recorded.headers };
    const data = query.get('data');
    const bytes =
      typeof init.body === 'string'
        ? Buffer.from(init.body)
        : init.body instanceof Uint8Array
          ? gunzipSync(init.body)
          : data === null
            ? Buffer.alloc(0)
            : dataText(data);
    const read = readSentJson(jsonTextOf(bytes));
    if (read.kind !== 'parsed') return [];
    return endpointsOf(pathname).flatMap((endpoint) => {
      if (endpoint.kind !== 'collect') return [];
      const { events, calls } = endpoint.decode(head, read.value);
      const context = {
        projectId,
        family: endpoint.family,
        receiveTimeMs: nowMs,
        correctsClock: true,
      };
      return [
        ...calls.map((call) => JSON.stringify(call)),
        ...events.flatMap((draft) => {
          // Ids are made by chance where nothing tells a repetition.
          draft.id ??= 'none';
          return [draft.write(context).text, draft.write(context, true).text];
        }),
      ];
    });
  };
}

function recordedSamples(): Sample[] {
  return readdirSync(testData('wire'))
    .toSorted()
    .flatMap((file) => {
      const { requests }: { requests: RecordedRequest[] } = JSON.parse(
        readFileSync(testData('wire', file), 'utf8'),
      );
      return requests.map(requestSample);
    });
}

describe.runIf(hasTestData)('what is remembered changes nothing', () => {
  beforeEach(() => vi.resetModules());

  it.each([
    ['rows of exports', () => exports.map(([family, file]) => exportSample(family, file)), 38],
    ['requests of SDKs', recordedSamples, 80],
  ] as const)('of %s', async (_, samplesOf, atLeast) => {
    const samples = samplesOf();
    const plain = await mapAll(await mapping(), samples);
    vi.resetModules();
    const other = await mapping();
    const backwards = (await mapAll(other, samples.toReversed())).toReversed();
    const again = await mapAll(other, samples);
    expect(plain.flat().length).toBeGreaterThanOrEqual(atLeast);
    expect(backwards).toEqual(plain);
    expect(again).toEqual(plain);
  });
});

async function mapAll(mapped: Mapping, samples: readonly Sample[]): Promise<string[][]> {
  const texts: string[][] = [];
  for (const sample of samples) texts.push(await sample(mapped));
  return texts;
}
