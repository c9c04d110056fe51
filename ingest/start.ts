// Ingest of one process: its parts put together, one set of methods behind the unary route and the Connect router.

import type { ConnectRouter } from '@connectrpc/connect';
import type { Authenticate } from '../platform/access/authenticate.ts';
import { createTokenBuckets } from '../platform/access/token-bucket.ts';
import { followConnection, maxPayloadBytes, type NatsConnection } from '../platform/broker/nats.ts';
import { eventsSubject, profilesSubject } from '../platform/broker/streams.ts';
import { shardOf } from '../platform/broker/topology.ts';
import type { Clock } from '../platform/clock.ts';
import type { DiskRoom } from '../platform/engines/disk-room.ts';
import type { NodeHttpRoute } from '../platform/http/http.ts';
import {
  brokerPayloadReserveBytes,
  maxBodyBytes,
  maxFrameBytes,
  maxFrameChanges,
  maxIdentityBodyBytes,
} from '../platform/limits.ts';
import { tellLive } from '../platform/live/live-messages.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { type CallerOptions, CallerReader } from './caller/caller.ts';
import type { ItemParts } from './compat/accept-items.ts';
import { createCompatRoute } from './compat/compat-route.ts';
import { KnownLinks } from './compat/known-links.ts';
import type { Salts } from './cookieless/salt.ts';
import { CookielessResolver } from './cookieless/visitor-ids.ts';
import { createIngestMetrics, type IngestMetrics } from './metrics.ts';
import { type CrowdingProjects, hearCrowdingProjects } from './publish/crowding-projects.ts';
import { createOutcomeLog } from './publish/outcome-log.ts';
import { Publisher } from './publish/publish.ts';
import { createPreflightNotice } from './refusals/preflights.ts';
import { Refusals } from './refusals/refusals.ts';
import type { IngestParts } from './rpc/accept.ts';
import { createBatchCreate } from './rpc/batch-create.ts';
import { registerBatchCreate } from './rpc/connect-router.ts';
import { createPageRoute } from './rpc/cors.ts';
import { createIdentify, type IdentifyParts, registerIdentify } from './rpc/identify.ts';
import type { UnaryRoute } from './rpc/unary-route.ts';
import { SenderRules, type SenderSettings } from './senders/sender-rules.ts';

/** Everything that ingest needs besides the broker. */
interface IngestBase {
  /** The days' secrets, from which cookieless ids are derived. */
  salts: Pick<Salts, 'of'>;
  shards: number;
  authenticate: Authenticate;
  caller: CallerOptions;
  /** The short path of BatchCreate, below which pages may call too. */
  collectPath: string;
  eventsPerSecond: number;
  eventsBurst: number;
  publicMaxAgeMs: number;
  /** The families of other vendors' SDKs that a project takes; absent, no path of theirs is served. */
  compatOf?: ((projectId: string) => readonly string[]) | undefined;
  /** What a project asks of the senders with its public keys; absent, nothing. */
  senderSettingsOf?: ((projectId: string) => SenderSettings | undefined) | undefined;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

export interface IngestOptions extends IngestBase {
  nats: NatsConnection;
  disk: Pick<DiskRoom, 'isScarce'>;
  publishDeadlineMs: number;
  frameLz4: boolean;
}

/** Takes accepted requests to the broker, and word of refused ones and of preflights. */
export interface Queue {
  refusals: IngestParts['refusals'];
  onPreflight(): void;
  events: IngestParts['publisher'];
  changes: IngestParts['publisher'];
  crowding: Pick<CrowdingProjects, 'isSlowed'>;
  /** The largest body that fits into a message. */
  maxBodyBytes: number;
}

export interface Ingest extends UnaryRoute {
  /** Whether callers get a place at all: from a database, or from a CDN's headers. */
  looksUpPlaces: boolean;
  register(router: ConnectRouter): void;
  /** Answers unavailable to what waits for the broker. Call it when no request is in flight any more. */
  close(): void;
}

// Frames are held in memory until the broker acknowledges them; past this, senders are told to slow down.
const maxInFlightBytes = 64 * 1_048_576;
// Identify's frames are small: a quarter is as much as a burst of them needs.
const maxInFlightChangeBytes = 16 * 1_048_576;
// Room for a body that a browser's beacon may have (64 KiB) beside the reserve of a frame.
const minPayloadBytes = 2 * brokerPayloadReserveBytes;

/** Throws one sentence where the broker takes too small messages only. */
export function startIngest(options: IngestOptions): Ingest {
  const { nats, disk, clock, publishDeadlineMs: deadlineMs, frameLz4: lz4 } = options;
  const payloadBytes = maxPayloadBytes(nats);
  if (payloadBytes < minPayloadBytes) {
    throw new Error(
      `the broker's max_payload of ${payloadBytes} bytes is too small: at least ${minPayloadBytes} are needed`,
    );
  }
  const metrics = createIngestMetrics(options.metrics);
  const noticeOutcome = createOutcomeLog(options.log);
  const state = followConnection(nats);
  const frameBytes = Math.min(maxFrameBytes, payloadBytes);
  const crowding = hearCrowdingProjects(nats);
  const events = new Publisher({
    broker: nats,
    state,
    disk,
    subjectOf: eventsSubject,
    deadlineMs,
    maxFrameBytes: frameBytes,
    maxInFlightBytes,
    lz4,
    repeats: 'all',
    isApart: crowding.isApart,
    onFrame: (frame) => {
      metrics.recordFrame(frame);
      noticeOutcome(frame);
    },
    onLate: (count) => metrics.acceptedEvents.inc(count),
  });
  const changes = new Publisher({
    broker: nats,
    state,
    disk,
    subjectOf: profilesSubject,
    deadlineMs,
    maxFrameBytes: frameBytes,
    maxFrameEvents: maxFrameChanges,
    maxInFlightBytes: maxInFlightChangeBytes,
    lz4,
    repeats: 'refused',
    onLate: (count) => metrics.acceptedChanges.inc(count),
  });
  const send = (subject: string, content: Uint8Array): void => tellLive(nats, subject, content);
  const refusals = new Refusals({ send, clock });
  const routes = createIngest(options, metrics, {
    events,
    changes,
    crowding,
    refusals,
    onPreflight: createPreflightNotice(send, clock),
    maxBodyBytes: Math.min(maxBodyBytes, payloadBytes - brokerPayloadReserveBytes),
  });
  return {
    ...routes,
    close: () => {
      crowding.close();
      refusals.tellRest();
      events.close();
      changes.close();
    },
  };
}

/** Ingest without its connection to the broker. */
export function createIngest(
  options: IngestBase,
  metrics: IngestMetrics,
  queue: Queue,
): Omit<Ingest, 'close'> {
  const { authenticate, clock, shards, log } = options;
  const eventParts: IngestParts = {
    authenticate,
    callers: new CallerReader(options.caller),
    eventLimit: createTokenBuckets({
      perSecond: options.eventsPerSecond,
      burst: options.eventsBurst,
      clock,
    }),
    cookieless: new CookielessResolver(options.salts, clock),
    publisher: queue.events,
    crowding: queue.crowding,
    shardOf: (projectId) => shardOf(projectId, shards),
    clock,
    metrics,
    refusals: queue.refusals,
    senders: new SenderRules(options.senderSettingsOf ?? (() => undefined)),
    maxBodyBytes: queue.maxBodyBytes,
    publicMaxAgeMs: options.publicMaxAgeMs,
  };
  const changeParts: IdentifyParts = {
    authenticate,
    callers: eventParts.callers,
    eventLimit: eventParts.eventLimit,
    publisher: queue.changes,
    crowding: queue.crowding,
    shardOf: eventParts.shardOf,
    clock,
    metrics,
    refusals: queue.refusals,
    senders: eventParts.senders,
    maxBodyBytes: Math.min(maxIdentityBodyBytes, queue.maxBodyBytes),
  };
  const events = createBatchCreate(eventParts, log);
  const changes = createIdentify(changeParts, log);
  const pageRoute = createPageRoute(options.collectPath, queue.onPreflight);
  const parts = { events: eventParts, changes: changeParts, links: new KnownLinks() };
  const compatRoute = compatRouteOf(options, parts, queue);
  return {
    nodeHttpRoute: (request, response, url, bodies) =>
      events.nodeHttpRoute(request, response, url, bodies) ||
      changes.nodeHttpRoute(request, response, url, bodies) ||
      pageRoute(request, response, url, bodies) ||
      compatRoute(request, response, url, bodies),
    plainRequestRoute: (head, peerAddress) =>
      events.plainRequestRoute(head, peerAddress) ?? changes.plainRequestRoute(head, peerAddress),
    register: (router) => {
      registerBatchCreate(router, eventParts);
      registerIdentify(router, changeParts);
    },
    looksUpPlaces: options.caller.cdn !== undefined || options.caller.locate !== undefined,
  };
}

/** Behind all paths of our own. */
function compatRouteOf(
  { compatOf, log }: IngestBase,
  parts: ItemParts,
  { onPreflight }: Queue,
): NodeHttpRoute {
  if (compatOf === undefined) return () => false;
  return createCompatRoute({ parts, familiesOf: compatOf, onPreflight, log });
}
