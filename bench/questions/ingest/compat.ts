// The cost of a batch of PostHog's, beside BatchCreate with the same events: both through HTTP, rules and the broker,
// in turns. The bodies of BatchCreate are those that the batches of PostHog become.

import { createHash, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { changeProject } from '../../../control/projects/project-record.ts';
import { systemClock } from '../../../platform/clock.ts';
import {
  type IngestService,
  startIngestService,
} from '../../../test/harness/services/ingest-service.ts';
import { type Bench, check } from '../../bench.ts';
import { comparePairs } from '../../harness/pairs.ts';

const smoke = { batch: 10, requests: 4, pairs: 1, warmUps: 0 };
const real = { batch: 100, requests: 200, pairs: 15, warmUps: 3 };

export const compatBench: Bench = {
  name: 'compat',
  question: 'What does a batch of PostHog’s cost beside BatchCreate with the same events?',
  async run(mode) {
    const { batch, requests, ...pairing } = mode === 'smoke' ? smoke : real;
    const service = await startIngestService({ eventsMaxBytes: 2 ** 32 });
    try {
      await changeProject(service.projects, service.projectId, systemClock, (project) => ({
        ...project,
        compat: ['posthog'],
      }));
      const sent = Array.from({ length: requests }, () => batchOf(service.publicKey, batch));
      const typed = await typedBodies(service, sent);
      const headers = { 'content-type': 'application/json', 'x-api-key': service.publicKey };
      const batchCreate = `${service.baseUrl}/sdk.events.v1.EventsService/BatchCreate`;
      const pair = await comparePairs(
        { run: () => postAll(`${service.baseUrl}/e/`, sent, { 'content-type': 'text/plain' }) },
        { run: () => postAll(batchCreate, typed, headers) },
        { ...pairing, swaps: true },
      );
      check(pair.subjectResult === requests, 'every batch is accepted');
      check(pair.calibrationResult === requests, 'every request of BatchCreate is accepted');
      const row = [
        String(batch),
        ((1_000 * pair.subjectCpuMs) / requests).toFixed(0),
        ((1_000 * pair.calibrationCpuMs) / requests).toFixed(0),
        (1 / pair.ratio.median).toFixed(2),
        (1 / pair.ratio.max).toFixed(2),
        (1 / pair.ratio.min).toFixed(2),
      ];
      const resultHash = createHash('sha256').update(`${batch} ${requests}`).digest('hex');
      return { tables: [{ title, columns, rows: [row] }], resultHash };
    } finally {
      await service.stop();
    }
  },
};

const title =
  'A batch of PostHog’s and BatchCreate with its events; CPU in us a request, both ends';
const columns = ['batch', 'PostHog', 'BatchCreate', 'ratio', 'min', 'max'];

/** A batch as posthog-js sends it: what it knows of page and browser beside a few properties. */
function batchOf(key: string, events: number): string {
  const timestamp = new Date(systemClock.nowMs()).toISOString();
  const session = randomUUID();
  const person = randomUUID();
  const properties = {
    ...{ $os: 'Linux', $browser: 'Chrome', $device_type: 'Desktop', $timezone: 'UTC' },
    ...{ $current_url: 'https://shop.example/page?utm_source=news', $host: 'shop.example' },
    ...{ $pathname: '/page', $browser_version: 156, $browser_language: 'en-US' },
    ...{ $screen_height: 720, $screen_width: 1280, $viewport_height: 720, $viewport_width: 1280 },
    ...{ $lib: 'web', $lib_version: '1.449.2', distinct_id: person, $device_id: person },
    ...{ utm_source: 'news', $referrer: 'https://ref.example/a', $referring_domain: 'ref.example' },
    ...{ title: 'Shop', token: key, $session_id: session, $window_id: randomUUID() },
    ...{ $is_identified: false, $process_person_profile: false, plan: 'pro', seats: 7, price: 1.5 },
  };
  const batch = Array.from({ length: events }, () => ({
    ...{ uuid: randomUUID(), event: 'signed up', timestamp },
    properties: { ...properties, $insert_id: randomUUID().slice(0, 16), $time: 1795819064.986 },
  }));
  return JSON.stringify({ api_key: key, batch, sent_at: timestamp });
}

/** What the batches are queued as. */
async function typedBodies(service: IngestService, sent: readonly string[]): Promise<string[]> {
  await postAll(`${service.baseUrl}/e/`, sent, { 'content-type': 'text/plain' });
  const queued = await service.queued();
  return queued.map(({ body }) => Buffer.from(body).toString());
}

/** One after the other on one connection; how many were answered 200. */
async function postAll(
  url: string,
  bodies: readonly string[],
  headers: Record<string, string>,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let accepted = 0;
  for (const body of bodies) if ((await post(url, body, headers, agent)) === 200) accepted++;
  agent.destroy();
  return accepted;
}

function post(
  url: string,
  body: string,
  headers: Record<string, string>,
  agent: Agent,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    sending.once('error', reject);
    sending.end(body);
  });
}
