// What a request holds is given back, by every way in and at every end of a request; and no body is held for a caller
// without access.

import { Agent, type IncomingMessage, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { maxBodyBytes } from '../../platform/limits.ts';
import { newEvent } from '../../test/harness/clients/client.ts';
import { dial } from '../../test/harness/clients/dial.ts';
import {
  freeze,
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const path = '/sdk.events.v1.EventsService/BatchCreate';
const arrival = { requestMs: 1_500, headersMs: 1_000 };

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService({ arrival });
});
afterAll(() => service.stop());
afterEach(() => expect.poll(() => service.heldBytes()).toBe(0));

interface Call {
  /** Sends a part of the body, and the rest of it. */
  write(bytes: Uint8Array): void;
  end(bytes: Uint8Array): void;
  /** Cuts the connection. */
  cut(): void;
  /** The HTTP status; `cut` where none came. */
  status: Promise<number | string>;
}

interface Way {
  isHttp1: boolean;
  open(headers: Record<string, string>): Call;
  contentType: string;
  encodingHeader: string;
  /** The body as this protocol sends it. */
  framed(message: Uint8Array, isCompressed: boolean): Uint8Array;
}

function overHttp1(baseUrl: string, headers: Record<string, string>): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = request(baseUrl + path, { method: 'POST', agent, headers });
  const status = new Promise<number | string>((resolve) => {
    call.once('response', (response: IncomingMessage) => {
      response.resume();
      response.once('close', () => agent.destroy());
      resolve(response.statusCode ?? 0);
    });
    call.on('error', () => resolve('cut'));
  });
  return {
    write: (bytes) => void call.write(bytes),
    end: (bytes) => void call.end(bytes),
    cut: () => call.destroy(),
    status,
  };
}

function overHttp2(baseUrl: string, headers: Record<string, string>): Call {
  const session = connectHttp2(baseUrl);
  session.on('error', () => {});
  const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
  const status = new Promise<number | string>((resolve) => {
    stream.once('response', (answer) => resolve(answer[':status'] ?? 0));
    stream.on('error', () => {});
    stream.once('close', () => {
      session.close();
      resolve('cut');
    });
  });
  stream.resume();
  return {
    write: (bytes) => void stream.write(bytes),
    end: (bytes) => void stream.end(bytes),
    cut: () => session.destroy(),
    status,
  };
}

const asItIs = (message: Uint8Array): Uint8Array => message;

function enveloped(message: Uint8Array, isCompressed: boolean): Uint8Array {
  const head = Buffer.alloc(5);
  head[0] = isCompressed ? 1 : 0;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const json = { contentType: 'application/json', encodingHeader: 'content-encoding' };
const plain = { ...json, framed: asItIs };
const grpc = { encodingHeader: 'grpc-encoding', framed: enveloped };
const ways: [string, Way][] = [
  [
    'plain requests',
    { ...plain, isHttp1: true, open: (headers) => overHttp1(service.baseUrl, headers) },
  ],
  [
    'node:http',
    { ...plain, isHttp1: true, open: (headers) => overHttp1(service.nodeUrl, headers) },
  ],
  [
    'node:http2',
    { ...plain, isHttp1: false, open: (headers) => overHttp2(service.nodeUrl, headers) },
  ],
  [
    'the router',
    { ...plain, isHttp1: true, open: (headers) => overHttp1(service.routerUrl, headers) },
  ],
  [
    'the router over HTTP/2',
    { ...plain, isHttp1: false, open: (headers) => overHttp2(service.routerUrl, headers) },
  ],
  [
    'gRPC',
    {
      ...{ ...grpc, contentType: 'application/grpc+json' },
      isHttp1: false,
      open: (headers) => overHttp2(service.baseUrl, headers),
    },
  ],
  [
    'gRPC-web',
    {
      ...{ ...grpc, contentType: 'application/grpc-web+json' },
      isHttp1: true,
      open: (headers) => overHttp1(service.baseUrl, headers),
    },
  ],
];

/** A valid body of that length. */
function bodyOf(bytes: number): Buffer {
  const text = JSON.stringify({ events: [newEvent({ kind: 'click' })] });
  return Buffer.from(text + ' '.repeat(bytes - text.length));
}

function headersOf(way: Way, extra: Record<string, string> = {}): Record<string, string> {
  return { 'content-type': way.contentType, 'x-api-key': service.publicKey, ...extra };
}

async function send(way: Way, message: Uint8Array, encoding?: string): Promise<number | string> {
  const body = way.framed(message, encoding !== undefined);
  const encoded = encoding === undefined ? {} : { [way.encodingHeader]: encoding };
  const headers = headersOf(way, { 'content-length': String(body.length), ...encoded });
  const call = way.open(headers);
  call.write(body.subarray(0, 100));
  call.end(body.subarray(100));
  return call.status;
}

/** Begins a body that stays incomplete, and waits until its first part is held. */
async function beginHalf(way: Way): Promise<Call> {
  const body = way.framed(bodyOf(400_000), false);
  const call = way.open(headersOf(way, { 'content-length': String(body.length) }));
  call.write(body.subarray(0, 200_000));
  await expect.poll(() => service.heldBytes()).toBeGreaterThan(100_000);
  return call;
}

describe.each(ways)('%s', (_name, way) => {
  const isGrpc = way.framed === enveloped;

  it('gives back what an answered request held', async () => {
    expect(await send(way, bodyOf(300_000))).toBe(200);
    expect(await send(way, gzipSync(bodyOf(300_000)), 'gzip')).toBe(200);
    expect(await send(way, brotliCompressSync(bodyOf(300_000)), 'br')).toBe(200);
  });

  it('gives back what a refused request held', async () => {
    // A refusal of gRPC is in its trailers.
    const refused = isGrpc ? 200 : expect.toBeOneOf([400, 429, 501]);
    expect(await send(way, Buffer.from(`{"events":${' '.repeat(200_000)}`))).toEqual(refused);
    expect(await send(way, Buffer.alloc(200_000, 'no gzip'), 'gzip')).toEqual(refused);
    expect(await send(way, gzipSync(bodyOf(maxBodyBytes + 1)), 'gzip')).toEqual(refused);
    expect(await send(way, Buffer.alloc(maxBodyBytes + 10, ' '))).toEqual(refused);
    expect(await send(way, Buffer.alloc(100_000), 'zstd')).toEqual(refused);
  });

  it('gives back what a request held whose sender went away', async () => {
    const call = await beginHalf(way);
    call.cut();
    expect(await call.status).toBe('cut');
  });

  it('holds nothing for a caller without access', async () => {
    const body = way.framed(bodyOf(400_000), false);
    const length = { 'content-length': String(body.length) };
    const call = way.open({ ...headersOf(way, length), 'x-api-key': 'pub_nobody' });
    // The answer comes before the body does.
    call.write(body.subarray(0, 200_000));
    expect(await call.status).toBe(isGrpc ? 200 : 401);
    expect(service.heldBytes()).toBe(0);
    call.cut();
  });
});

it.each(ways.filter(([, way]) => way.isHttp1))(
  'a body that comes too slowly holds nothing in the end: %s',
  async (_name, way) => {
    const call = await beginHalf(way);
    expect(await call.status).toEqual(expect.toBeOneOf([408, 'cut']));
  },
);

it('a sender that went away during the handler’s work leaves nothing held', async () => {
  await freeze(service.broker, service.nats);
  try {
    const { socket, closed } = dial(Number(new URL(service.baseUrl).port));
    const body = bodyOf(300_000).toString();
    const fields = `host: a\r\ncontent-type: application/json\r\nx-api-key: ${service.publicKey}`;
    socket.write(`POST ${path} HTTP/1.1\r\n${fields}\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
    await expect.poll(() => service.heldBytes()).toBeGreaterThan(0);
    socket.destroy();
    await closed;
  } finally {
    service.broker.resume();
  }
});

it('long bodies have room for all that they promise, or are refused before they come', async () => {
  const headers = {
    ...{ 'content-type': 'application/proto', 'x-api-key': service.publicKey },
    'content-length': String(maxBodyBytes),
  };
  const calls = Array.from({ length: 20 }, () => overHttp1(service.routerUrl, headers));
  let refused = 0;
  for (const { write, status } of calls) {
    void status.then((answer) => {
      if (answer === 429) refused++;
    });
    write(Buffer.alloc(1));
  }
  // Half of all memory is a key's: six of these.
  await expect.poll(() => refused).toBe(14);
  expect(service.heldBytes()).toBe(6 * maxBodyBytes);
  for (const { cut } of calls) cut();
});

it('a body of one byte too many is the sender’s fault in the router too', async () => {
  const response = await fetch(service.routerUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/proto', 'x-api-key': service.publicKey },
    body: Buffer.alloc(maxBodyBytes + 1),
  });
  expect([response.status, await response.json()]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_argument' }),
  ]);
});
