// The instance as an import speaks with it: over HTTP with a private key, in the lane of imports. A request that
// is not known to be queued is sent again, for minutes; an answer that asks for patience is waited for without an end.

import { setTimeout as delay } from 'node:timers/promises';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Pool } from 'undici';
import { RequestRefused } from '../../demo/sending/request-refused.ts';
import type { Target } from '../../demo/sending/target.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';

export interface FoundIds {
  projectId: string;
  /** In lower case. */
  stored: ReadonlySet<string>;
}

const batchCreate = '/sdk.events.v1.EventsService/BatchCreate';
const findPath = '/shared.activity.v1.ActivityService/FindStored';
const identifyPath = '/sdk.profiles.v1.ProfilesSDKService/Identify';
const aliasPath = '/sdk.profiles.v1.ProfilesSDKService/Alias';
const requestTimeoutMs = 60_000;
/** A service that starts again is back within this time. */
const patienceMs = 5 * 60_000;
const firstRetryMs = 250;
const maxRetryMs = 5_000;
const idBytes = 16;

export class Service {
  readonly #pool: Pool;
  /**
   * Questions have connections of their own: the service reads events off the socket, and leaves a connection that
   * carried a question to node:http for good, which takes twice as long (platform/http/plain-requests.ts).
   */
  readonly #questions: Pool;
  readonly #prefix: string;
  readonly #key: string;
  readonly #baseUrl: string;
  /** Milliseconds that requests were told to wait. */
  waitedMs = 0;

  constructor({ baseUrl, privateKey }: Target, connections: number) {
    const { origin } = new URL(baseUrl);
    this.#baseUrl = baseUrl;
    this.#prefix = baseUrl.slice(origin.length);
    this.#key = privateKey;
    const timeouts = { headersTimeout: requestTimeoutMs, bodyTimeout: requestTimeoutMs };
    this.#pool = new Pool(origin, { connections, ...timeouts });
    this.#questions = new Pool(origin, { connections, ...timeouts });
  }

  /** Resolves once the events are queued. `body`: of BatchCreate. */
  async sendEvents(body: Buffer): Promise<void> {
    await this.#post(batchCreate, body);
  }

  /** Those of the ids, at most 10,000 UUIDs, whose events are stored with a time from `fromMs` up to `toMs`. */
  async findStored(ids: readonly string[], fromMs: number, toMs: number): Promise<FoundIds> {
    const request = findRequest(bytesOf(ids), fromMs, toMs + 1);
    return readFound(await this.#post(findPath, request, 'application/proto'));
  }

  async identify(externalId: string, traits: JsonObject, traitsOnce: JsonObject): Promise<void> {
    await this.#post(identifyPath, JSON.stringify({ externalId, traits, traitsOnce }));
  }

  async alias(previousId: string, externalId: string): Promise<void> {
    await this.#post(aliasPath, JSON.stringify({ previousId, externalId }));
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#questions.close()]);
  }

  async #post(
    path: string,
    body: string | Uint8Array,
    contentType = 'application/json',
  ): Promise<Buffer> {
    const startMs = performance.now();
    for (let attempt = 0; ; ) {
      const answer = await this.#once(path, body, contentType);
      if (answer.kind === 'ok') return answer.content;
      const isOver = answer.kind === 'again' && performance.now() - startMs > patienceMs;
      if (answer.kind === 'refused' || isOver) throw new RequestRefused(answer.why);
      if (answer.kind === 'again') attempt++;
      const backoffMs = answer.kind === 'wait' ? 0 : firstRetryMs * 2 ** attempt;
      const waitMs = Math.max(answer.afterMs, Math.min(maxRetryMs, backoffMs));
      this.waitedMs += waitMs;
      await delay(waitMs);
    }
  }

  async #once(path: string, body: string | Uint8Array, contentType: string): Promise<Answer> {
    const headers = {
      'content-type': contentType,
      'connect-protocol-version': '1',
      'x-api-key': this.#key,
      'x-millrace-lane': 'import',
    };
    try {
      const request = { method: 'POST' as const, path: this.#prefix + path, body, headers };
      const pool = path === findPath ? this.#questions : this.#pool;
      const response = await pool.request(request);
      const content = Buffer.from(await response.body.arrayBuffer());
      return readAnswer(response.statusCode, response.headers['retry-after'], content);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      const why = `no Millrace answers at ${this.#baseUrl} (${code})`;
      return { kind: 'again', afterMs: 0, why };
    }
  }
}

const hyphen = 0x2d;

/** The bytes of UUIDs, one behind the other. */
function bytesOf(ids: readonly string[]): Buffer {
  const bytes = Buffer.alloc(idBytes * ids.length);
  let digits = 0;
  for (const id of ids) {
    for (let at = 0; at < id.length; at++) {
      const code = id.charCodeAt(at);
      if (code === hyphen) continue;
      // Letters of either case follow a multiple of sixteen, and digits are one.
      const digit = (code & 0xf) + 9 * (code >> 6);
      bytes[digits >> 1] = ((bytes[digits >> 1] ?? 0) << 4) | digit;
      digits++;
    }
  }
  return bytes;
}

/**
 * A FindStoredRequest. The ids are protobuf's bytes because the service takes longer to read them as JSON's base64; the
 * generated code takes longer to load than to write all requests of a short import.
 */
function findRequest(eventIds: Buffer, fromMs: number, toMs: number): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).fork();
  for (const [index, ms] of [fromMs, toMs].entries()) {
    writer.tag(index + 1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Varint).int64(Math.floor(ms / 1_000));
    writer.tag(2, WireType.Varint).int32((Math.floor(ms) % 1_000) * 1_000_000);
    writer.join();
  }
  return writer.join().tag(2, WireType.LengthDelimited).bytes(eventIds).finish();
}

/** Of a FindStoredResponse. */
function readFound(content: Buffer): FoundIds {
  const reader = new BinaryReader(content);
  const stored = new Set<string>();
  let projectId = '';
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) {
      const ids = Buffer.from(reader.bytes());
      for (let at = 0; at < ids.length; at += idBytes) {
        stored.add(ids.toString('hex', at, at + idBytes));
      }
    } else if (field === 2) projectId = reader.string();
    else reader.skip(type, field);
  }
  return { projectId, stored };
}

type Answer =
  | { kind: 'ok'; content: Buffer }
  /** Nothing was queued, and the service says when to come back. */
  | { kind: 'wait'; afterMs: number }
  | { kind: 'again'; afterMs: number; why: string }
  | { kind: 'refused'; why: string };

/** 0 is no answer. */
const passing: readonly number[] = [408, 500, 502, 503, 504];

function readAnswer(
  status: number,
  retryAfter: string | string[] | undefined,
  content: Buffer,
): Answer {
  if (status === 200) return { kind: 'ok', content };
  const afterMs = Number(retryAfter ?? 0) * 1_000 || 0;
  if (status === 429) return { kind: 'wait', afterMs: Math.max(afterMs, firstRetryMs) };
  const text = content.toString();
  const { code = '', message = text.slice(0, 200) } = objectOf(text);
  const why = `the instance answered ${status} ${code}: ${message}`;
  return passing.includes(status) ? { kind: 'again', afterMs, why } : { kind: 'refused', why };
}

function objectOf(text: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
