// The only place that connects to the broker and reads its failures. It knows no stream or bucket; what to do about a
// failure is the caller's decision.

import { readFileSync } from 'node:fs';
import {
  type Authenticator,
  credsAuthenticator,
  ErrorCode,
  Events,
  type Msg,
  type NatsConnection,
  NatsError,
} from 'nats';
import type { Log } from '../log.ts';
import { retry } from '../retry.ts';
import { outOfRoom, storeFailed } from './connection/error-codes.ts';
import { strangerAt } from './connection/server-owner.ts';
import { connectTransport } from './connection/transport.ts';

export {
  AckPolicy,
  type ConsumerConfig,
  createInbox,
  DeliverPolicy,
  DiscardPolicy,
  Events,
  headers,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type KV,
  type KvEntry,
  type Msg,
  type NatsConnection,
  NatsError,
  nanos,
  type QueuedIterator,
  RetentionPolicy,
  StorageType,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
  type Subscription,
} from 'nats';

const connectTimeoutMs = 2_000;
const reconnectWaitMs = 250;
const reconnectJitterMs = 100;
// Two pings without an answer end a silent connection: a frozen broker is noticed after at most 15 s. Where another
// server could do its work, after 6 s: its streams have other leaders about then.
const pingIntervalMs = 5_000;
const pingIntervalAmongServersMs = 2_000;
const maxPingsOut = 2;

/**
 * Connects, then reconnects by itself for ever. `url` is one or several (comma-separated) nats:// or tls:// URLs; the
 * user and password of the first, its user alone as a token, or the file that its `?creds=` names serve for all. With
 * `?server-uid=N` nothing is sent to a server of another user of this machine; where one turns up later, the connection
 * is closed with an error. Throws one sentence, without secrets, where no server answers within `firstConnectMs` (10 s)
 * or the credentials are refused.
 */
export async function connectBroker(
  url: string,
  log: Log,
  options: { firstConnectMs?: number } = {},
): Promise<NatsConnection> {
  const servers = url.split(',').map((text) => new URL(text.trim()));
  const names = servers.map((server) => `${server.protocol}//${server.host}`).join(', ');
  let lastError: unknown;
  try {
    const authenticator = authenticatorsOf(servers[0]);
    const connection = await retry(() => connectOnce(servers, authenticator), {
      signal: AbortSignal.timeout(options.firstConnectMs ?? 10_000),
      baseMs: 100,
      capMs: 1_000,
      onFailure: ({ error }) => {
        lastError = error;
        if (isRefusedLogin(error) || error instanceof StrangersServer) throw error;
      },
    });
    log.info({ servers: names, version: connection.info?.version }, 'connected to the broker');
    void reportStatus(connection, log);
    return connection;
  } catch (error) {
    const reason = reasonOf(lastError ?? error);
    throw new Error(`the broker at ${names} cannot be used: ${reason}`, { cause: error });
  }
}

function connectOnce(
  servers: readonly URL[],
  authenticator: Authenticator[],
): Promise<NatsConnection> {
  const [first] = servers;
  if (first === undefined) throw new Error('no URL of a broker');
  const user = decodeURIComponent(first.username);
  const pass = decodeURIComponent(first.password);
  return connectTransport({
    servers: servers.map((server) => server.host),
    name: 'millrace',
    timeout: connectTimeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectWaitMs,
    reconnectJitter: reconnectJitterMs,
    ignoreAuthErrorAbort: true,
    pingInterval: servers.length > 1 ? pingIntervalAmongServersMs : pingIntervalMs,
    maxPingOut: maxPingsOut,
    // A stack trace per request costs more than the request.
    noAsyncTraces: true,
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(first.protocol === 'tls:' && { tls: {} }),
    authenticator,
  });
}

/** Called in this order when the server has greeted us, before anything is sent to it: the socket is its by then. */
function authenticatorsOf(server: URL | undefined): Authenticator[] {
  const uid = server?.searchParams.get('server-uid');
  const credentialsFile = server?.searchParams.get('creds');
  const authenticators: Authenticator[] = [];
  if (uid) authenticators.push(() => refuseStranger(Number(server?.port), Number(uid)));
  if (credentialsFile) authenticators.push(credsAuthenticator(readFileSync(credentialsFile)));
  return authenticators;
}

class StrangersServer extends Error {}

function refuseStranger(port: number, uid: number): void {
  const stranger = strangerAt(port, uid);
  if (stranger === undefined) return;
  throw new StrangersServer(`another user of this machine (id ${stranger}) has taken its port`);
}

/** Throws where the connection is down at this moment. */
export function maxPayloadBytes(connection: NatsConnection): number {
  if (connection.info === undefined) throw new Error('the broker is not connected');
  return connection.info.max_payload;
}

export interface ConnectionState {
  /** False from the loss of the connection until it is back: messages published meanwhile are lost. */
  connected(): boolean;
  /** Called after each change, in the order of registration. */
  onChange(listener: (connected: boolean) => void): void;
}

/** Follows a connection until it is closed. */
export function followConnection(connection: NatsConnection): ConnectionState {
  let connected = !connection.isClosed();
  const listeners: ((connected: boolean) => void)[] = [];
  const change = (now: boolean) => {
    connected = now;
    for (const listener of listeners) listener(now);
  };
  const follow = async () => {
    for await (const { type } of connection.status()) {
      if (type === Events.Disconnect) change(false);
      if (type === Events.Reconnect) change(true);
    }
  };
  void follow();
  void connection.closed().then(() => change(false));
  return { connected: () => connected, onChange: (listener) => void listeners.push(listener) };
}

/** Whether the broker has not answered a request in time; it may have done what was asked. */
export function isLate(error: unknown): boolean {
  return error instanceof NatsError && error.code === ErrorCode.Timeout;
}

/** Whether a request failed because no stream listens on its subject. Then nothing was stored. */
export function noStream(error: unknown): boolean {
  return error instanceof NatsError && error.code === ErrorCode.NoResponders;
}

/** The outcome of a publish. After `full` the message is surely not stored; after `unavailable` it may be. */
export type PublishOutcome =
  | { kind: 'stored'; seq: number; duplicate: boolean }
  | { kind: 'full' }
  | { kind: 'unavailable'; reason: string };

/** Reads the broker's reply to a publish, or the error thrown instead of one. Never throws. */
export function publishOutcome(reply: Pick<Msg, 'data' | 'headers'> | Error): PublishOutcome {
  if (reply instanceof Error) return failedOutcome(reply);
  // An empty reply with a status header is the server's own: 503 says that no stream listens on the subject.
  if (reply.data.length === 0) {
    const status = reply.headers?.code ?? 0;
    return { kind: 'unavailable', reason: status === 503 ? 'no stream' : `status ${status}` };
  }
  let ack: PubAck;
  try {
    ack = JSON.parse(decoder.decode(reply.data));
  } catch {
    return { kind: 'unavailable', reason: 'the reply is not an acknowledgement' };
  }
  if (typeof ack?.error === 'object') return refusedOutcome(ack.error);
  if (typeof ack?.seq === 'number' && ack.seq > 0) {
    return { kind: 'stored', seq: ack.seq, duplicate: ack.duplicate === true };
  }
  return { kind: 'unavailable', reason: 'the reply is not an acknowledgement' };
}

/** JetStream's own code of a failed call, as error-codes.ts names them; undefined where JetStream did not answer. */
export function apiErrorCode(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}

const refusedLogins = new Set<string>([ErrorCode.AuthorizationViolation, ErrorCode.BadCreds]);

interface ApiRefusal {
  err_code?: number;
  description?: string;
}
type PubAck = { error?: ApiRefusal; seq?: unknown; duplicate?: unknown } | null;

const decoder = new TextDecoder();
const fullDescriptions = new Set(['maximum bytes exceeded', 'maximum messages exceeded']);

function failedOutcome(error: Error): PublishOutcome {
  if (error instanceof NatsError && error.api_error) return refusedOutcome(error.api_error);
  return { kind: 'unavailable', reason: reasonOf(error) };
}

function refusedOutcome(refusal: ApiRefusal): PublishOutcome {
  const code = refusal.err_code ?? 0;
  const description = refusal.description ?? '';
  if (code === storeFailed && fullDescriptions.has(description)) return { kind: 'full' };
  if (outOfRoom.has(code)) return { kind: 'full' };
  return { kind: 'unavailable', reason: `${description} (${code})` };
}

function isRefusedLogin(error: unknown): boolean {
  return error instanceof NatsError && refusedLogins.has(error.code);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof NatsError)) return error instanceof Error ? error.message : String(error);
  switch (error.code) {
    case ErrorCode.ConnectionRefused:
      return 'nothing listens there';
    case ErrorCode.BadCreds:
      return 'the file of its credentials holds none';
    case ErrorCode.AuthorizationViolation:
      return 'it refuses the user, password, token or credentials';
    case ErrorCode.Timeout:
      return 'it does not answer in time';
    case ErrorCode.NoResponders:
      return 'no stream';
    default:
      return error.chainedError?.message ?? error.message;
  }
}

/** A broker that grants less than this version asks for refuses every message of a kind: one line in so long tells. */
const brokerErrorsEveryMs = 60_000;

/** Returns a function that hears each error of a broker and logs the first, and then at most one a minute. */
export function createErrorReport(
  log: Pick<Log, 'error'>,
  nowMs: () => number,
): (fields: object) => void {
  let nextMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (fields) => {
    if (nowMs() < nextMs) {
      untold++;
      return;
    }
    nextMs = nowMs() + brokerErrorsEveryMs;
    log.error({ ...fields, untold }, 'the broker reports an error');
    untold = 0;
  };
}

async function reportStatus(connection: NatsConnection, log: Log): Promise<void> {
  const reportError = createErrorReport(log, () => performance.now());
  for await (const { type, data, permissionContext } of connection.status()) {
    switch (type) {
      case Events.Disconnect:
        log.warn({ server: data }, 'lost the broker, reconnecting');
        break;
      case Events.Reconnect:
        log.info({ server: data }, 'the broker is back');
        break;
      case Events.Error:
        reportError({ error: data, ...permissionContext });
        break;
      case Events.LDM:
        log.info({ server: data }, 'the broker is about to stop');
        break;
      default:
        log.debug({ type, data }, 'broker connection');
    }
  }
}
