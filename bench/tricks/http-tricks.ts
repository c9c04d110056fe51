// Tricks of ingest: the scanner against the reference path of validation, requests read off the socket against
// node:http, and a handler of our own against the Connect router. The last two run on real HTTP and a real broker: a
// handler that answers nobody is always fast.

import { readJsonBody } from '../../ingest/validation/text/reference-body.ts';
import { scanJsonBody } from '../../ingest/validation/text/scan-body.ts';
import { dayMs } from '../../platform/clock.ts';
import { maxBodyBytes } from '../../platform/limits.ts';
import { makeBodies } from '../../test/harness/requests/bodies.ts';
import type { IngestService } from '../../test/harness/services/ingest-service.ts';
import { check, type Mode } from '../bench.ts';
import { emptyStream } from '../harness/event-stream.ts';
import type { LoadOptions } from '../harness/load/load.ts';
import { median, spreadOf } from '../harness/pairs.ts';
import { runLoadProcess } from '../harness/processes/processes.ts';
import { compareWithReference, type Measured, pairsOf, type Trick } from './trick.ts';

const seed = 11;
const nowMs = Date.UTC(2026, 10, 20, 12);

export const httpTricks: readonly Trick[] = [
  {
    name: 'scanner over the body',
    reference: 'the reference path, JSON.parse first',
    over: 'body to verdict',
    batch: 100,
    measure: measureScanner,
  },
  ...[1, 100].map(
    (batch): Trick => ({
      name: 'requests read off the socket',
      reference: 'node:http',
      ...{ over: 'service, HTTP to PubAck', batch },
      measure: (mode, service) => measureHandler(batch, mode, service, service.nodeUrl),
    }),
  ),
  ...[1, 100].map(
    (batch): Trick => ({
      name: 'a handler of our own, scanner and socket included',
      reference: 'the Connect router',
      ...{ over: 'service, HTTP to PubAck', batch },
      measure: (mode, service) => measureHandler(batch, mode, service, service.routerUrl),
    }),
  ),
];

function measureScanner(mode: Mode): Promise<Measured> {
  const count = mode === 'smoke' ? 2 : 200;
  const bodies = makeBodies({ size: 'medium', batch: 100, count, seed, nowMs });
  const context = { receiveTimeMs: nowMs, maxBodyBytes, maxAgeMs: 30 * dayMs };
  const contender = (read: typeof scanJsonBody) => ({
    run(): number {
      let events = 0;
      for (const { bytes } of bodies) {
        const verdict = read(bytes, context);
        if (verdict.kind === 'valid') events += verdict.events;
      }
      return events;
    },
  });
  return compareWithReference(
    { trick: contender(scanJsonBody), reference: contender(readJsonBody), events: 100 * count },
    mode,
  );
}

/** The service is this process; the load comes from another. */
async function measureHandler(
  batch: number,
  mode: Mode,
  service: IngestService,
  referenceUrl: string,
): Promise<Measured> {
  const { pairs, warmUps } = pairsOf[mode];
  const loadOptions = loadOptionsOf(batch, mode);
  const trickUs: number[] = [];
  const referenceUs: number[] = [];
  for (let pair = 0; pair < warmUps + pairs; pair++) {
    const trick = await cpuOfLoad(service, service.baseUrl, loadOptions);
    const reference = await cpuOfLoad(service, referenceUrl, loadOptions);
    await emptyStream(service.broker);
    if (pair < warmUps) continue;
    trickUs.push(trick);
    referenceUs.push(reference);
  }
  const ratio = spreadOf(referenceUs.map((reference, pair) => reference / (trickUs[pair] ?? 0)));
  return { trickUs: median(trickUs), referenceUs: median(referenceUs), ratio };
}

function loadOptionsOf(batch: number, mode: Mode): Omit<LoadOptions, 'baseUrl' | 'key'> {
  const size =
    mode === 'smoke'
      ? { bodiesPerConnection: 1, connections: 2, durationMs: 50 }
      : { bodiesPerConnection: 8, connections: batch === 1 ? 64 : 16, durationMs: 2_000 };
  return {
    ...{ ...size, size: 'medium', batch, seed, requestsPerSecond: 0 },
    ...{ load: 0, warmUpMs: 0, traced: false },
  };
}

/** CPU microseconds an acknowledged event. */
async function cpuOfLoad(
  { publicKey }: IngestService,
  baseUrl: string,
  options: Omit<LoadOptions, 'baseUrl' | 'key'>,
): Promise<number> {
  const before = process.cpuUsage();
  const load = await runLoadProcess({ ...options, baseUrl, key: publicKey });
  const { user, system } = process.cpuUsage(before);
  check(load.acknowledgedEvents > 0, 'events are acknowledged');
  check(Object.keys(load.refused).length === 0, 'nothing is refused');
  return (user + system) / load.acknowledgedEvents;
}
