// A client of the public interface: sends through the SDK for servers, and reads with JSON over HTTP, again where the
// instance has no time.

import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { isObject, type JsonObject } from '../../platform/json.ts';
import * as sdk from '../../sdk/node/client.ts';
import type { Event, Properties } from '../visits/event.ts';
import type { Member } from '../visits/people/members.ts';
import { RequestRefused } from './request-refused.ts';

/** The instance has no such method. */
export class NotServed extends RequestRefused {}

export interface StoredEvent {
  eventId: string;
  kind: string;
  distinctId: string;
  profileId: string;
  sessionId: string;
  occurTime: string;
  autoProperties?: Properties;
  customProperties?: Properties;
}

export interface EventPage {
  events: StoredEvent[];
  nextPageToken: string;
}

export interface Profile {
  id: string;
  externalId?: string;
  /** Its traits. */
  properties?: JsonObject;
  createTime?: string;
  /** Summed over the profile's events; int64 values are strings. */
  activity?: Record<string, string>;
}

export interface Client {
  /** Returns the number of accepted events. */
  sendEvents(events: readonly Event[], key: string, userAgent?: string): Promise<number>;
  /** Names a user and sets the traits. */
  identify(member: Member, key: string): Promise<void>;
  /** Stored events, newest first. */
  listEvents(filter: Record<string, unknown>, key: string): Promise<StoredEvent[]>;
  /** The same with the next page's token, empty behind the last. */
  listPage(filter: Record<string, unknown>, key: string): Promise<EventPage>;
  /**
   * The number of stored events of a kind that occurred in the range. Throws NotServed where no questions are
   * answered.
   */
  countEvents(eventKind: string, range: { from: string; to: string }, key: string): Promise<number>;
  /** Takes the profile id of a listed event; waits until the profile is there. */
  getProfile(id: string, key: string): Promise<Profile>;
  /** Throws a RequestRefused where no instance answers or it is not ready. */
  checkReady(): Promise<void>;
  close(): Promise<void>;
}

interface ClientOptions {
  baseUrl: string;
  /** Requests at one time. */
  connections: number;
  /** Tries of a request, the first included: 30 unless given. */
  attempts?: number;
  /** Called each time a request must be sent again. */
  onRetry?: () => void;
}

const defaultAttempts = 30;
const firstRetryMs = 100;
const maxRetryMs = 5_000;
const requestTimeoutMs = 30_000;

const identifyPath = '/sdk.profiles.v1.ProfilesSDKService/Identify';
const listPath = '/shared.activity.v1.ActivityService/List';
const queryPath = '/shared.insights.v1.InsightsService/Query';
const getProfilePath = '/shared.profiles.v1.ProfilesService/Get';

export function createClient(options: ClientOptions): Client {
  const origin = new URL(options.baseUrl).origin;
  const prefix = options.baseUrl.slice(origin.length);
  const maxAttempts = options.attempts ?? defaultAttempts;
  const timeouts = { headersTimeout: requestTimeoutMs, bodyTimeout: requestTimeoutMs };
  const pool = new Pool(origin, { connections: options.connections, ...timeouts });

  async function post(
    path: string,
    body: string,
    headers: Record<string, string>,
    passing: readonly number[] = busy,
  ): Promise<JsonObject> {
    for (let attempt = 1; ; attempt++) {
      const answer = await once(path, body, headers, passing);
      if (answer.kind === 'ok') return answer.json;
      if (answer.kind === 'not served') throw new NotServed(answer.why);
      if (answer.kind === 'refused' || attempt === maxAttempts)
        throw new RequestRefused(answer.why);
      options.onRetry?.();
      const backoffMs = Math.min(maxRetryMs, firstRetryMs * 2 ** (attempt - 1));
      await delay(Math.max(answer.afterMs, backoffMs));
    }
  }

  async function once(
    path: string,
    body: string,
    headers: Record<string, string>,
    passing: readonly number[],
  ): Promise<Answer> {
    try {
      const response = await pool.request({ method: 'POST', path: prefix + path, body, headers });
      const text = await response.body.text();
      return readAnswer(response.statusCode, response.headers['retry-after'], text, passing);
    } catch (error) {
      return { kind: 'again', afterMs: 0, why: unreachable(options.baseUrl, error) };
    }
  }

  const listPage = async (filter: Record<string, unknown>, key: string): Promise<EventPage> =>
    pageOf(await post(listPath, JSON.stringify(filter), headersOf(key)));

  return {
    sendEvents: createSendEvents(options, maxAttempts),
    identify: async (member, key) =>
      void (await post(identifyPath, JSON.stringify(member), headersOf(key))),
    listPage,
    listEvents: async (filter, key) => (await listPage(filter, key)).events,
    async countEvents(eventKind, timeRange, key) {
      const events = [{ event: { kind: eventKind }, aggregation: 'AGGREGATION_TYPE_TOTAL' }];
      const spec = { insightType: 'INSIGHT_TYPE_SEGMENTATION', events };
      const json = await post(queryPath, JSON.stringify({ spec, timeRange }), headersOf(key));
      const { segmentation } = json;
      return isObject(segmentation) ? Number(segmentation['total'] ?? 0) : 0;
    },
    async getProfile(id, key) {
      // An event is listed a moment before its profile is there.
      const passing = [...busy, 404];
      const json = await post(getProfilePath, JSON.stringify({ id }), headersOf(key), passing);
      return profileOf(json['profile']);
    },
    checkReady: () => checkReady(pool, prefix, options.baseUrl),
    close: () => pool.close(),
  };
}

/** Unpacked, as the way to an instance is short. */
function createSendEvents(
  { baseUrl: url, onRetry = () => {} }: ClientOptions,
  attempts: number,
): Client['sendEvents'] {
  /** By key: a demo has two. */
  const senders = new Map<string, sdk.Client>();
  return async (events, key, userAgent) => {
    const sender =
      senders.get(key) ?? sdk.createClient({ url, key, attempts, gzip: false, onRetry });
    senders.set(key, sender);
    try {
      return await sender.send(events, userAgent);
    } catch (error) {
      throw error instanceof sdk.SendError ? refusalOf(error, url) : error;
    }
  };
}

async function checkReady(pool: Pool, prefix: string, baseUrl: string): Promise<void> {
  const request = pool.request({ method: 'GET', path: `${prefix}/readyz` });
  const { statusCode, body } = await request.catch((error) => {
    throw new RequestRefused(unreachable(baseUrl, error));
  });
  const text = await body.text();
  if (statusCode !== 200) {
    throw new RequestRefused(`${baseUrl} answers but is not ready (/readyz says ${statusCode})`);
  }
  if (text.trim() !== 'ready') {
    throw new RequestRefused(noMillrace(baseUrl, '/readyz does not say ready'));
  }
}

type Answer =
  | { kind: 'ok'; json: JsonObject }
  | { kind: 'again'; afterMs: number; why: string }
  | { kind: 'not served'; why: string }
  | { kind: 'refused'; why: string };

/** Nothing queued, or not known to be queued: the same event ids again are counted once. */
const busy: readonly number[] = [429, 503];

const notServed: readonly number[] = [404, 501];

function readAnswer(
  status: number,
  retryAfter: string | string[] | undefined,
  text: string,
  passing: readonly number[],
): Answer {
  const json = parseObject(text);
  if (status === 200) return { kind: 'ok', json };
  const why = answered(status, json['code'] ?? '', json['message'] ?? text.slice(0, 200));
  if (!passing.includes(status)) {
    return { kind: notServed.includes(status) ? 'not served' : 'refused', why };
  }
  return { kind: 'again', afterMs: Number(retryAfter ?? 0) * 1_000 || 0, why };
}

function answered(status: number, code: unknown, message: unknown): string {
  return `the instance answered ${status} ${code}: ${message}`;
}

function refusalOf({ status, code, message }: sdk.SendError, baseUrl: string): RequestRefused {
  if (status === 0) return new RequestRefused(noMillrace(baseUrl, code));
  const why = answered(status, code, message);
  return notServed.includes(status) ? new NotServed(why) : new RequestRefused(why);
}

function headersOf(key: string): Record<string, string> {
  return { 'content-type': 'application/json', 'connect-protocol-version': '1', 'x-api-key': key };
}

function parseObject(text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function pageOf(json: JsonObject): EventPage {
  return {
    events: Array.isArray(json['events']) ? json['events'] : [],
    nextPageToken: String(json['nextPageToken'] ?? ''),
  };
}

function profileOf(value: unknown): Profile {
  const profile: Profile = { id: '' };
  return isObject(value) ? { ...profile, ...value } : profile;
}

function unreachable(baseUrl: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return noMillrace(baseUrl, code);
}

function noMillrace(baseUrl: string, why: string): string {
  return `no Millrace answers at ${baseUrl} (${why}): start one with \`npm start\`, or name it with --url`;
}
