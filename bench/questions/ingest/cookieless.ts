// The cost of events without identities at ingest: the same visits with and without an identity, from a body's bytes to
// the published frame. No HTTP, no broker: both would only make the difference look smaller.

import { createHash, createHmac, type Hash } from 'node:crypto';
import { BlockList } from 'node:net';
import { CallerReader } from '../../../ingest/caller/caller.ts';
import { CookielessResolver } from '../../../ingest/cookieless/visitor-ids.ts';
import { createIngestMetrics } from '../../../ingest/metrics.ts';
import { FramePacking } from '../../../ingest/publish/frame-packing.ts';
import {
  type AuthenticatedCall,
  acceptEvents,
  type IngestParts,
} from '../../../ingest/rpc/accept.ts';
import { SenderRules } from '../../../ingest/senders/sender-rules.ts';
import { scanJsonBody } from '../../../ingest/validation/text/scan-body.ts';
import { createTokenBuckets } from '../../../platform/access/token-bucket.ts';
import { dayMs } from '../../../platform/clock.ts';
import { maxBodyBytes } from '../../../platform/limits.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { type EncodedRequest, FRAME_HEADER_BYTES, projectMark } from '../../../proto/wire/frame.ts';
import { encodeFrame } from '../../../proto/wire/frame-writer.ts';
import { type Body, makeBodies } from '../../../test/harness/requests/bodies.ts';
import { type Bench, check } from '../../bench.ts';
import { comparePairs, type Pairing } from '../../harness/pairs.ts';

interface Parameters {
  batches: number[];
  /** Events in the distinct bodies; one run goes through these `rounds` times. */
  events: number;
  rounds: number;
  pairs: number;
  warmUps: number;
}

const smoke: Parameters = { batches: [10], events: 100, rounds: 1, pairs: 2, warmUps: 0 };
const real: Parameters = { batches: [1, 10, 100], events: 4_000, rounds: 6, pairs: 9, warmUps: 2 };

const seed = 5;
const nowMs = Date.UTC(2026, 10, 20, 12);
const receiveTimeMs = nowMs;
const maxAgeMs = 30 * dayMs;
/** This many requests of one visitor follow each other, then those of the next. */
const requestsPerVisitor = 4;
/** One turn of the event loop gathers about this many under load. */
const requestsPerFrame = 4;

export const cookielessBench: Bench = {
  name: 'cookieless',
  question: 'What do cookieless events cost at ingest, beside identified ones?',
  async run(mode) {
    const { batches, events, rounds, ...pairs } = mode === 'smoke' ? smoke : real;
    const rows: string[][] = [];
    const hash = createHash('sha256');
    for (const batch of batches) {
      const count = Math.ceil(events / batch);
      const identified = makeBodies({ size: 'medium', batch, count, seed, nowMs });
      const cookieless = identified.map(withoutIdentity);
      const subject = { run: () => accept(cookieless, rounds, hash) };
      const calibration = { run: () => accept(identified, rounds, hash) };
      const pairing = await comparePairs(subject, calibration, pairs);
      const expected = identified.length * batch * rounds;
      check(pairing.subjectResult === expected, `${expected} cookieless events are accepted`);
      check(pairing.calibrationResult === expected, `${expected} identified events are accepted`);
      rows.push(rowOf(batch, pairing, expected));
    }
    return { tables: [{ title, columns, rows }], resultHash: hash.digest('hex') };
  },
};

const title =
  'A request without identities (subject) and the same with them (calibration), one thread';
const columns = ['batch', 'subject us/event', 'calibration us/event', 'cost ratio', 'min', 'max'];

function withoutIdentity(body: Body): Body {
  const { events }: { events: Record<string, unknown>[] } = JSON.parse(body.bytes.toString());
  const bare = events.map(({ distinctId: _, sessionId: __, ...rest }) => ({
    ...rest,
    occurTime: new Date(nowMs).toISOString(),
    cookieless: true,
  }));
  return { ...body, bytes: Buffer.from(JSON.stringify({ events: bare })) };
}

/**
 * Accepts every body `rounds` times, each round with a new resolver, which remembers the visitors of its own round
 * only.
 */
async function accept(bodies: readonly Body[], rounds: number, hash: Hash): Promise<number> {
  let accepted = 0;
  for (let round = 0; round < rounds; round++) {
    const parts = partsOf(hash);
    for (const [index, body] of bodies.entries()) {
      const visitor = Math.floor(index / requestsPerVisitor);
      const userAgent = bodies[visitor]?.userAgent ?? '';
      const sender = senderOf(visitor, userAgent, parts);
      const read = scanJsonBody(body.bytes, { receiveTimeMs, maxBodyBytes, maxAgeMs });
      const answer = await acceptEvents(sender, read, parts);
      if (answer.kind === 'accepted') accepted += answer.events;
    }
  }
  return accepted;
}

function partsOf(hash: Hash): IngestParts {
  const clock = { nowMs: () => nowMs };
  const salts = new Map([0, 1].map((ago) => [ago, createHmac('sha256', `${ago}`).digest()]));
  const today = Math.floor(nowMs / dayMs);
  return {
    authenticate: () => ({ kind: 'ok', principal }),
    callers: new CallerReader({
      trustedProxies: new BlockList(),
      proxyHops: 0,
      botScoreHeader: 'cf-bot-score',
      verifiedBotHeader: 'cf-verified-bot',
    }),
    cookieless: new CookielessResolver(
      { of: (day) => ({ kind: 'salt', salt: salts.get(today - day) ?? Buffer.alloc(32) }) },
      clock,
    ),
    eventLimit: createTokenBuckets({ perSecond: 0, burst: 1, clock }),
    publisher: publisherTo(hash),
    crowding: { isSlowed: () => false },
    refusals: { tell: () => {}, tellExcluded: () => {} },
    senders: new SenderRules(() => undefined),
    shardOf: () => 0,
    clock,
    metrics: createIngestMetrics(createMetrics()),
    maxBodyBytes,
    publicMaxAgeMs: maxAgeMs,
  };
}

/** Makes frames as the publisher does, and sends them nowhere. */
function publisherTo(hash: Hash): IngestParts['publisher'] {
  const packing = new FramePacking(true);
  let requests: EncodedRequest[] = [];
  return {
    publish: async (_shard, request) => {
      requests.push(request);
      if (requests.length === requestsPerFrame) {
        const frame = packing.pack(encodeFrame(requests));
        hash.update(frame.subarray(0, FRAME_HEADER_BYTES));
        requests = [];
      }
      return 'stored';
    },
  };
}

const principal = {
  projectId: 'p',
  organizationId: 'o',
  credential: 'public',
  keyId: 'k',
} as const;

function senderOf(visitor: number, userAgent: string, { callers }: IngestParts): AuthenticatedCall {
  const peerAddress = `10.${visitor >> 16}.${(visitor >> 8) & 255}.${visitor & 255}`;
  const request = { headers: { 'user-agent': userAgent }, peerAddress };
  const caller = callers.read(request, 'public');
  const times = { receiveTimeMs, timeShiftMs: 0, timeoutMs: Number.POSITIVE_INFINITY };
  return { principal, project: projectMark(principal.projectId), caller, request, ...times };
}

function rowOf(batch: number, pairing: Pairing, events: number): string[] {
  const perEvent = (cpuMs: number) => ((1_000 * cpuMs) / events).toFixed(2);
  const { subjectCpuMs, calibrationCpuMs, ratio } = pairing;
  // The inverse of a speed ratio: the subject's time over the calibration's.
  const costs = [1 / ratio.median, 1 / ratio.max, 1 / ratio.min].map((cost) => cost.toFixed(2));
  return [String(batch), perEvent(subjectCpuMs), perEvent(calibrationCpuMs), ...costs];
}
