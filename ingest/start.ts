// Ingest of one process: its parts put together, the hot route and the Connect methods over the same ones.

import type { ConnectRouter } from '@connectrpc/connect';
import type { Authenticate, Authentication, Credentials } from '../platform/access/authenticate.ts';
import { createTokenBuckets } from '../platform/access/token-bucket.ts';
import { followConnection, maxPayloadBytes, type NatsConnection } from '../platform/broker/nats.ts';
import { eventsSubject, profilesSubject, shardOf } from '../platform/broker/topology.ts';
import type { Clock } from '../platform/clock.ts';
import { brokerPayloadReserveBytes, maxBodyBytes, maxFrameBytes } from '../platform/limits.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { type CallerOptions, CallerReader, type CallerRequest } from './caller/caller.ts';
import type { Salts } from './cookieless/salt.ts';
import { CookielessResolver } from './cookieless/visitor-ids.ts';
import { createIngestMetrics, type IngestMetrics } from './metrics.ts';
import { createOutcomeLog } from './publish/outcome-log.ts';
import { Publisher } from './publish/publish.ts';
import type { IngestParts, Principal } from './rpc/accept.ts';
import { type Refusal, refusal } from './rpc/answer.ts';
import { createBatchCreate } from './rpc/batch-create.ts';
import { registerBatchCreate } from './rpc/connect-router.ts';
import { createIdentify, type IdentifyParts, registerIdentify } from './rpc/identify.ts';
import type { UnaryRoute } from './rpc/unary-route.ts';

/** What ingest stands on besides the broker. */
export interface IngestBase {
  /** Of the days' secrets, from which cookieless ids are derived. */
  salts: Pick<Salts, 'of'>;
  shards: number;
  authenticate: Authenticate;
  caller: CallerOptions;
  eventsPerSecond: number;
  eventsBurst: number;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export interface IngestOptions extends IngestBase {
  nats: NatsConnection;
  publishDeadlineMs: number;
  frameLz4: boolean;
}

/** Where accepted requests go. */
export interface Queue {
  events: IngestParts['publisher'];
  changes: IngestParts['publisher'];
  /** The largest body that it takes. */
  maxBodyBytes: number;
}

export interface Ingest extends UnaryRoute {
  register(router: ConnectRouter): void;
  /** Answers what waits for the broker as unavailable. Call it when no request is in flight any more. */
  close(): void;
}

// What waits for the broker's acknowledgement is held in memory; past this, senders are told to slow down.
const maxInFlightBytes = 64 * 1_048_576;
// Identify's frames are small: a share of that is as much as a burst of them needs.
const maxInFlightChangeBytes = 16 * 1_048_576;
const batchCreate = 'sdk.events.v1.EventsService/BatchCreate';
// Room for a body that a browser's beacon may have (64 KiB) beside what a frame needs.
const minPayloadBytes = 2 * brokerPayloadReserveBytes;

/** Throws one sentence where the broker takes too small messages only. */
export function startIngest(options: IngestOptions): Ingest {
  const { nats } = options;
  const payloadBytes = maxPayloadBytes(nats);
  if (payloadBytes < minPayloadBytes) {
    throw new Error(
      `the broker's max_payload of ${payloadBytes} bytes is too small: at least ${minPayloadBytes} are needed`,
    );
  }
  const metrics = createIngestMetrics(options.metrics);
  const noticeOutcome = createOutcomeLog(options.log);
  const publisherOptions = {
    broker: nats,
    state: followConnection(nats),
    deadlineMs: options.publishDeadlineMs,
    maxFrameBytes: Math.min(maxFrameBytes, payloadBytes),
    lz4: options.frameLz4,
  };
  const events = new Publisher({
    ...publisherOptions,
    subjectOf: eventsSubject,
    maxInFlightBytes,
    onFrame: (frame) => {
      metrics.recordFrame(frame);
      noticeOutcome(frame);
    },
  });
  const changes = new Publisher({
    ...publisherOptions,
    subjectOf: profilesSubject,
    maxInFlightBytes: maxInFlightChangeBytes,
  });
  const queue: Queue = {
    ...{ events, changes },
    maxBodyBytes: Math.min(maxBodyBytes, payloadBytes - brokerPayloadReserveBytes),
  };
  return {
    ...createIngest(options, metrics, queue),
    close: () => {
      events.close();
      changes.close();
    },
  };
}

/** All of ingest but its way to the broker. */
export function createIngest(
  options: IngestBase,
  metrics: IngestMetrics,
  queue: Queue,
): Omit<Ingest, 'close'> {
  const { clock, shards, log } = options;
  const authenticate = authenticateWith(options.authenticate);
  const parts: IngestParts = {
    authenticate: (request, apiKeyParam) => authenticate(batchCreate, request, apiKeyParam),
    callers: new CallerReader(options.caller),
    eventLimit: createTokenBuckets({
      perSecond: options.eventsPerSecond,
      burst: options.eventsBurst,
      clock,
    }),
    cookieless: new CookielessResolver(options.salts, clock),
    publisher: queue.events,
    shardOf: (projectId) => shardOf(projectId, shards),
    clock,
    metrics,
    maxBodyBytes: queue.maxBodyBytes,
  };
  const changeParts: IdentifyParts = { ...parts, authenticate, publisher: queue.changes };
  const events = createBatchCreate(parts, log);
  const changes = createIdentify(changeParts, log);
  return {
    nodeHttpRoute: (request, response, url) =>
      events.nodeHttpRoute(request, response, url) || changes.nodeHttpRoute(request, response, url),
    plainRequestRoute: (head, peerAddress) =>
      events.plainRequestRoute(head, peerAddress) ?? changes.plainRequestRoute(head, peerAddress),
    register: (router) => {
      registerBatchCreate(router, parts);
      registerIdentify(router, changeParts);
    },
  };
}

/** `method` names a row of the table of access; both shapes of BatchCreate have the same. */
function authenticateWith(authenticate: Authenticate): IdentifyParts['authenticate'] {
  return (method, request, apiKeyParam) => {
    const answer = authenticate(method, credentialsOf(request, apiKeyParam));
    return answer instanceof Promise ? answer.then(principalOrRefusal) : principalOrRefusal(answer);
  };
}

function principalOrRefusal(answer: Authentication): Principal | Refusal {
  if (answer.kind === 'ok') return answer.principal;
  if (answer.kind === 'refused') return refusal(answer.code, answer.code, answer.message);
  throw new Error('the table of access lets callers in without a project');
}

function credentialsOf({ headers }: CallerRequest, apiKeyParam: string | undefined): Credentials {
  return {
    apiKey: textOf(headers['x-api-key']),
    authorization: headers.authorization,
    projectIdHeader: textOf(headers['x-project-id']),
    apiKeyParam,
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
