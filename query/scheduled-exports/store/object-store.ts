// Four requests to S3-compatible storage: write, look, read, delete. A body is a file or bytes of known length and
// hash, never a bare stream: its SHA-256 is signed, so that the endpoint refuses other bytes. Addresses are vetted as
// those of webhooks are, at each connection; redirects are not followed.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { BlockList } from 'node:net';
import { AwsV4Signer } from 'aws4fetch';
import { Agent } from 'undici';
import { createEndpointConnector } from '../../../platform/endpoints/endpoint-connector.ts';
import type { BucketTarget } from '../../../platform/exports/schedule-record.ts';
import type { Internet } from '../../../platform/mail/internet.ts';
import { brokenOff, refusedBy, type StoreAction, StoreFailure } from './store-failure.ts';

/** `bytes` and `sha256` in hexadecimal digits, of what is sent. */
export type ObjectBody = { bytes: number; sha256: string } & ({ path: string } | { data: Buffer });

export interface StoredObject {
  bytes: number;
  /** As its writer noted it; empty where nobody did. */
  sha256: string;
}

/** All throw StoreFailure, and the signal's reason once that is aborted. */
export interface ObjectStore {
  put(key: string, body: ObjectBody, signal: AbortSignal): Promise<void>;
  /** Undefined where there is none. */
  head(key: string, signal: AbortSignal): Promise<StoredObject | undefined>;
  /** Undefined where there is none. Throws for more than `maxBytes`. */
  get(key: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined>;
  /** Nothing happens where there is none. */
  delete(key: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The operator's networks, as for webhooks. */
  allowed: BlockList;
  internet: Internet;
  /** Certificates that are trusted besides the usual ones. */
  extraCertificates?: string;
}

/** An endpoint, and a key that is open. */
export type OpenTarget = Omit<BucketTarget, 'sealedSecret'> & { secret: string };

const connectTimeoutMs = 5_000;
const answerTimeoutMs = 30_000;
/** The least rate at which a body may be taken, or an answer given. */
const bytesPerMs = 64;
const maxErrorBytes = 16_384;
const noBody = createHash('sha256').digest('hex');
/** Kept beside the object, so that a look tells whose bytes are there. */
const hashHeader = 'x-amz-meta-sha256';

type Method = 'PUT' | 'HEAD' | 'GET' | 'DELETE';
const actions = {
  PUT: 'write',
  HEAD: 'read',
  GET: 'read',
  DELETE: 'delete',
} as const satisfies Record<Method, StoreAction>;

type Answer = Awaited<ReturnType<Agent['request']>>;

export function openObjectStore(target: OpenTarget, options: StoreOptions): ObjectStore {
  const unreached = new WeakSet<Error>();
  const connector = createEndpointConnector({
    ...options,
    connectTimeoutMs,
    // Nothing of an answer is told that would tell of the network.
    onOpenedNetwork() {},
  });
  const agent = new Agent({
    ...{ connections: 1, pipelining: 1, allowH2: false },
    ...{ headersTimeout: answerTimeoutMs, bodyTimeout: answerTimeoutMs },
    connect: (to, callback) =>
      connector(to, (...result) => {
        if (result[0] !== null) unreached.add(result[0]);
        callback(...result);
      }),
  });

  const ask = async <T>(
    method: Method,
    key: string,
    body: ObjectBody | undefined,
    outer: AbortSignal,
    read: (answer: Answer) => Promise<T>,
    maxBytes = 0,
  ): Promise<T> => {
    outer.throwIfAborted();
    const late = AbortSignal.timeout(
      answerTimeoutMs + Math.ceil((body?.bytes ?? maxBytes) / bytesPerMs),
    );
    try {
      const { url, headers } = await signed(target, method, key, body);
      const answer = await agent.request({
        ...{ origin: url.origin, path: url.pathname, method, headers },
        body: body === undefined ? null : contentOf(body),
        signal: AbortSignal.any([outer, late]),
      });
      return await read(answer);
    } catch (error) {
      outer.throwIfAborted();
      throw brokenOff(error, error instanceof Error && unreached.has(error), late.aborted);
    }
  };

  return {
    put: (key, body, signal) =>
      ask('PUT', key, body, signal, async (answer) => {
        await orFail('PUT', answer);
        await answer.body.dump();
      }),
    head: (key, signal) =>
      ask('HEAD', key, undefined, signal, async (answer) => {
        await answer.body.dump();
        // There is no body that would tell a missing bucket from a missing file.
        if (answer.statusCode === 404) return undefined;
        await orFail('HEAD', answer);
        const { [hashHeader]: hash, 'content-length': length } = answer.headers;
        return { bytes: Number(length), sha256: typeof hash === 'string' ? hash : '' };
      }),
    get: (key, maxBytes, signal) =>
      ask('GET', key, undefined, signal, (answer) => contentIn(answer, maxBytes), maxBytes),
    delete: (key, signal) =>
      ask('DELETE', key, undefined, signal, async (answer) => {
        if (answer.statusCode !== 404) await orFail('DELETE', answer);
        await answer.body.dump();
      }),
    close: () => agent.destroy(),
  };
}

async function orFail(method: Method, answer: Answer): Promise<void> {
  if (answer.statusCode >= 200 && answer.statusCode < 300) return;
  const text = await beginningOf(answer);
  throw refusedBy(actions[method], answer.statusCode, text);
}

async function contentIn(answer: Answer, maxBytes: number): Promise<Buffer | undefined> {
  if (answer.statusCode === 404) {
    const text = await beginningOf(answer);
    if (!text.includes('NoSuchBucket')) return undefined;
    throw refusedBy('read', 404, text);
  }
  await orFail('GET', answer);
  return whole(answer, maxBytes);
}

/** Each part of a key is written as S3 signs it: all but letters, digits and `-_.~` in percent signs. */
function addressOf({ endpoint, bucket, isPathStyle }: OpenTarget, key: string): URL {
  const path = key
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, percent))
    .join('/');
  const { protocol, host } = new URL(endpoint);
  return new URL(
    isPathStyle ? `${endpoint}/${bucket}/${path}` : `${protocol}//${bucket}.${host}/${path}`,
  );
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Signature version 4, with the body's hash. */
async function signed(
  target: OpenTarget,
  method: Method,
  key: string,
  body: ObjectBody | undefined,
): Promise<{ url: URL; headers: Record<string, string> }> {
  const signer = new AwsV4Signer({
    ...{ method, service: 's3', region: target.region, url: addressOf(target, key).href },
    ...{ accessKeyId: target.accessKeyId, secretAccessKey: target.secret },
    headers: {
      'x-amz-content-sha256': body?.sha256 ?? noBody,
      ...(body !== undefined && { [hashHeader]: body.sha256 }),
    },
  });
  const { url, headers } = await signer.sign();
  return {
    url,
    headers: {
      ...Object.fromEntries(headers),
      // A packed answer could be a bomb.
      'accept-encoding': 'identity',
      'user-agent': 'Millrace-Exports',
      ...(body !== undefined && { 'content-length': String(body.bytes) }),
    },
  };
}

function contentOf(body: ObjectBody) {
  return 'path' in body ? createReadStream(body.path) : body.data;
}

async function beginningOf({ body }: Answer): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    if (length >= maxErrorBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString();
}

async function whole({ body }: Answer, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new StoreFailure('a file there is larger than what was written');
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}
