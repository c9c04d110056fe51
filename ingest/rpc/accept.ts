// Accepts the events of one BatchCreate call once its body is read, the same for all protocols: identity -> limit ->
// publish -> answer. The routes read the body before and write the answer after.

import type { Authenticate } from '../../platform/access/authenticate.ts';
import type { TokenBuckets } from '../../platform/access/token-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CallerRequest } from '../../platform/http/caller-request.ts';
import { maxTimerMs } from '../../platform/limits.ts';
import { type CookielessIds, encodeContext } from '../../proto/wire/frame.ts';
import type { Caller, CallerIdentity, CallerReader } from '../caller/caller.ts';
import type { CookielessResolver, ResolvedCookieless } from '../cookieless/visitor-ids.ts';
import type { IngestMetrics } from '../metrics.ts';
import type { CrowdingProjects } from '../publish/crowding-projects.ts';
import type { Publisher } from '../publish/publish.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { ExclusionRules } from '../senders/exclusion-rules.ts';
import { type IncludedEvents, includedEvents, retainedEvents } from '../senders/included-events.ts';
import type { SenderRules } from '../senders/sender-rules.ts';
import type { ShortContext } from '../validation/short-shape.ts';
import type { ReadBody } from '../validation/text/reference-body.ts';
import {
  type Answer,
  crowdingRefusal,
  identityRefusal,
  limitRefusal,
  publishedAnswer,
  type Refusal,
  timeoutRefusal,
  violationRefusal,
} from './answer.ts';
import type { Principal } from './authenticate.ts';

export interface IngestParts {
  authenticate: Authenticate;
  callers: Pick<CallerReader, 'read' | 'identity' | 'address'>;
  cookieless: Pick<CookielessResolver, 'resolve'>;
  eventLimit: TokenBuckets;
  publisher: Pick<Publisher, 'publish'>;
  crowding: Pick<CrowdingProjects, 'isSlowed'>;
  shardOf: (projectId: string) => number;
  clock: Clock;
  metrics: IngestMetrics;
  refusals: Pick<Refusals, 'tell' | 'tellExcluded'>;
  senders: Pick<SenderRules, 'refusalOf' | 'exclusionsOf' | 'retainedFromMs'>;
  /** The largest body after decompression. */
  maxBodyBytes: number;
  /** How long before receipt an event of a public key may have occurred; Infinity without a bound. */
  publicMaxAgeMs: number;
}

export interface AuthenticatedCall {
  principal: Principal;
  /** `projectMark` of the principal's project, or `importMark`. */
  project: number;
  caller: Caller;
  /** Looked at once more where events are cookieless: their ids need the address, which `caller` does not hold. */
  request: CallerRequest;
  receiveTimeMs: number;
  /** By how much its events' times are moved; `read` has their sums. */
  timeShiftMs: number;
  /** How long the sender waits for an answer. */
  timeoutMs: number;
}

// A body counts as an event for each so many bytes: reading it costs as much, however few events it turns out to hold.
const bytesPerToken = 1_024;
// A smaller body is read before its key's limit is asked: that costs less than the answer.
const minLimitedBytes = 65_536;

/** What the rules for a call's body depend on besides the body. */
export function bodyContext(
  { projectId, credential }: Principal,
  times: Pick<AuthenticatedCall, 'receiveTimeMs' | 'timeShiftMs'>,
  idempotencyKey: string | undefined,
  { maxBodyBytes, publicMaxAgeMs }: IngestParts,
): ShortContext {
  const maxAgeMs = credential === 'public' ? publicMaxAgeMs : Number.POSITIVE_INFINITY;
  const { receiveTimeMs, timeShiftMs } = times;
  return { receiveTimeMs, timeShiftMs, maxBodyBytes, maxAgeMs, projectId, idempotencyKey };
}

/** Reads a body, if its key's limit has room for its bytes. A refused body counts too. */
export function readWithin<Read extends { kind: 'valid' } | { kind: 'invalid' }>(
  limit: TokenBuckets,
  keyId: string,
  bodyBytes: number,
  read: () => Read,
): Read | Refusal {
  const tokens = Math.floor(bodyBytes / bytesPerToken);
  if (bodyBytes >= minLimitedBytes) {
    const waitSeconds = limit.wait(keyId, tokens);
    if (waitSeconds > 0) return limitRefusal(waitSeconds);
  }
  const body = read();
  if (body.kind === 'invalid' && tokens > 0) limit.charge(keyId, tokens);
  return body;
}

/** What the limit counts for a request of so many bytes. */
export function tokensOf(events: number, bodyBytes: number): number {
  return Math.max(events, Math.floor(bodyBytes / bytesPerToken));
}

/** Refuses at once; an accepted call is answered once the broker has acknowledged its events. */
export function acceptEvents(
  call: AuthenticatedCall,
  read: ReadBody,
  parts: IngestParts,
): Answer | Promise<Answer> {
  if (read.kind === 'invalid') return violationRefusal(read.violation);
  const isCookieless = read.cookieless > 0;
  const identity = isCookieless ? parts.callers.identity(call.request) : undefined;
  if (isCookieless && identity === undefined) return identityRefusal();
  if (parts.crowding.isSlowed(call.project) && read.events > 0) return crowdingRefusal();
  const tokens = tokensOf(read.events, read.body.length);
  const waitSeconds = parts.eventLimit.take(call.principal.keyId, tokens);
  if (waitSeconds > 0) return limitRefusal(waitSeconds);
  if (read.events === 0) return { kind: 'accepted', events: 0 };
  const fromMs = parts.senders.retainedFromMs(call.principal, call.receiveTimeMs);
  return fromMs === undefined
    ? acceptUnlessExcluded(call, read, identity, parts)
    : acceptRetained(call, read, identity, fromMs, parts);
}

/** Without the events that are older than the project keeps any. */
function acceptRetained(
  call: AuthenticatedCall,
  read: ReadBody & { kind: 'valid' },
  identity: CallerIdentity | undefined,
  fromMs: number,
  parts: IngestParts,
): Answer | Promise<Answer> {
  const context = bodyContext(call.principal, call, undefined, parts);
  const included = retainedEvents(read, fromMs, context);
  return included.excluded === undefined
    ? acceptUnlessExcluded(call, read, identity, parts)
    : acceptRest(call, included, identity, parts, acceptUnlessExcluded);
}

function acceptUnlessExcluded(
  call: AuthenticatedCall,
  read: ReadBody & { kind: 'valid' },
  identity: CallerIdentity | undefined,
  parts: IngestParts,
): Answer | Promise<Answer> {
  const exclusions = parts.senders.exclusionsOf(call.principal);
  return exclusions === undefined
    ? acceptValid(call, read, identity, parts)
    : acceptIncluded(call, read, identity, exclusions, parts);
}

/** `identity`: where some events are cookieless. */
function acceptValid(
  call: AuthenticatedCall,
  read: ReadBody & { kind: 'valid' },
  identity: CallerIdentity | undefined,
  parts: IngestParts,
): Answer | Promise<Answer> {
  if (identity === undefined) return publish(call, read.body, read.events, undefined, parts);
  return acceptCookieless(call, read, identity, parts);
}

/** Without the events that the project excludes. */
async function acceptIncluded(
  call: AuthenticatedCall,
  read: ReadBody & { kind: 'valid' },
  identity: CallerIdentity | undefined,
  rules: ExclusionRules,
  parts: IngestParts,
): Promise<Answer> {
  const ofRequest = rules.ofRequest(call.caller, () => parts.callers.address(call.request));
  const context = bodyContext(call.principal, call, undefined, parts);
  const included = includedEvents(read, rules, ofRequest, context);
  return acceptRest(call, included, identity, parts, acceptValid);
}

/** What is left of a request; the others count among its dropped events, once it is accepted. */
async function acceptRest(
  call: AuthenticatedCall,
  { read: rest, excluded }: IncludedEvents,
  identity: CallerIdentity | undefined,
  parts: IngestParts,
  accept: typeof acceptValid,
): Promise<Answer> {
  const { projectId } = call.principal;
  const answer: Answer =
    rest === undefined
      ? { kind: 'accepted', events: 0 }
      : await accept(call, rest, rest.cookieless > 0 ? identity : undefined, parts);
  if (answer.kind === 'refused' || excluded === undefined) return answer;
  const { rule, events } = excluded;
  parts.refusals.tellExcluded(projectId, rule, events);
  const { events: others = 0, byReason } = answer.dropped ?? {};
  const dropped = { events: others + events, byReason: { ...byReason, [rule]: events } };
  return { ...answer, dropped };
}

function acceptCookieless(
  call: AuthenticatedCall,
  read: ReadBody & { kind: 'valid' },
  identity: CallerIdentity,
  parts: IngestParts,
): Answer | Promise<Answer> {
  const { projectId } = call.principal;
  const { receiveTimeMs } = call;
  const days = read.cookielessDays;
  const resolved = parts.cookieless.resolve(projectId, receiveTimeMs, identity, days);
  return resolved instanceof Promise
    ? publishOnceResolved(call, read, resolved, parts)
    : publishCookieless(call, read, resolved, parts);
}

/** Waits for the ids, at most as long as the sender does. */
async function publishOnceResolved(
  call: AuthenticatedCall,
  read: ReadBody & { kind: 'valid' },
  resolved: Promise<ResolvedCookieless>,
  parts: IngestParts,
): Promise<Answer> {
  const startMs = performance.now();
  const ids = await within(resolved, call.timeoutMs);
  const timeoutMs = call.timeoutMs - (performance.now() - startMs);
  if (ids === undefined || timeoutMs <= 0) {
    return timeoutRefusal('nothing of this request was queued');
  }
  return publishCookieless({ ...call, timeoutMs }, read, ids, parts);
}

/** Undefined where `work`, which never rejects, takes longer than `timeoutMs`. */
function within<T>(work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(timeoutMs, maxTimerMs), undefined);
    void work.then((done) => {
      clearTimeout(timer);
      resolve(done);
    });
  });
}

function publishCookieless(
  call: AuthenticatedCall,
  read: ReadBody & { kind: 'valid' },
  { ids, dropped }: ResolvedCookieless,
  parts: IngestParts,
): Answer | Promise<Answer> {
  read.nameCookieless?.(ids);
  if (dropped === undefined) return publish(call, read.body, read.events, ids, parts);
  const events = read.events - dropped.events;
  if (events === 0) return { kind: 'accepted', events, dropped };
  return publish(call, read.body, events, ids, parts).then((answer) =>
    answer.kind === 'accepted' ? { ...answer, dropped } : answer,
  );
}

/** Queues a body; `events` counts those of its events that are to become rows. */
async function publish(
  { principal, project, caller, receiveTimeMs, timeShiftMs, timeoutMs }: AuthenticatedCall,
  body: Uint8Array,
  events: number,
  cookieless: CookielessIds | undefined,
  parts: IngestParts,
): Promise<Answer> {
  const { projectId, credential } = principal;
  // Named field by field, because spreading `caller` costs more than encoding the whole context.
  const context = encodeContext({
    projectId,
    credential,
    receiveTimeMs,
    timeShiftMs: timeShiftMs || undefined,
    userAgent: caller.userAgent,
    location: caller.location,
    botScore: caller.botScore,
    verifiedBot: caller.verifiedBot,
    cookieless,
  });
  const request = { context, body, events, project };
  const published = await parts.publisher.publish(parts.shardOf(projectId), request, timeoutMs);
  return publishedAnswer(published, events, 'retry with the same event ids');
}

export function countAnswer(answer: Answer, metrics: IngestMetrics): void {
  if (answer.kind !== 'accepted') {
    metrics.refusedRequests.inc({ reason: answer.reason });
    return;
  }
  metrics.acceptedEvents.inc(answer.events);
  if (answer.dropped === undefined) return;
  for (const [reason, events] of Object.entries(answer.dropped.byReason)) {
    metrics.droppedEvents.inc({ reason }, events);
  }
}
