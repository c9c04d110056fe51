// Attacks on the memory of the port: bodies that are held, bodies that become large. Each is bounded in count and time.
// For the test of their memory, and the bench of what others notice.

import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { constants, gzipSync } from 'node:zlib';

export interface Target {
  baseUrl: string;
  publicKey: string;
}

export interface Attack {
  name: string;
  /** Requests of the full size. */
  times: number;
  /** Resolves once it is over; counts the statuses of its answers. */
  run(target: Target, times: number): Promise<Record<string, number>>;
}

const signInPath = '/public.auth.v1.AuthService/SignIn';
const batchCreatePath = '/sdk.events.v1.EventsService/BatchCreate';
const shortPath = '/events.v1.EventsService/BatchCreate';
const bodyBytes = 8 * 1_048_576;
const heldBodies = 200;
const holdMs = 1_000;
/** A sender that is not read gives up. */
const maxSendMs = 20_000;
const streamsPerSession = 50;

/** All of a body but its last byte, so that it is held and never read. */
const held = Buffer.from(`{"email":"${'a'.repeat(bodyBytes - 11)}`);

/** 8 kB that become 8 MiB, which is a valid request without an event. */
export const bomb = gzipSync(`{"events":[${' '.repeat(bodyBytes - 13)}]}`, {
  level: constants.Z_BEST_COMPRESSION,
});

/** 12 kB that become 4 million empty events, for gRPC-web. */
const messages = gzipSync(Buffer.alloc(bodyBytes, Buffer.from([0x0a, 0x00])));

const asStranger = (): Record<string, string> => ({});
const withKey = ({ publicKey }: Target): Record<string, string> => ({ 'x-api-key': publicKey });

/** The header that frames a body, and the bytes in front of it. */
interface Framing {
  name: string;
  value: string | number;
  before: string;
}

const withLength: Framing = { name: 'content-length', value: bodyBytes, before: '' };
const inOneChunk: Framing = {
  name: 'transfer-encoding',
  value: 'chunked',
  before: `${bodyBytes.toString(16)}\r\n`,
};

export const attacks: readonly Attack[] = [
  overHttp1('SignIn bodies held over HTTP/1', signInPath, asStranger),
  overHttp1('SignIn bodies without a length', signInPath, asStranger, inOneChunk),
  overHttp1('bodies for a path that nobody serves', '/no.Service/Method', asStranger),
  overHttp2('SignIn bodies held over HTTP/2', signInPath, asStranger),
  overHttp1('BatchCreate bodies of a key held over HTTP/1', batchCreatePath, withKey),
  overHttp2('BatchCreate bodies of a key held over HTTP/2', shortPath, withKey),
  {
    name: 'gzip that inflates a thousandfold',
    times: 300,
    run: (target, times) => count(repeat(times, () => post(target, bomb))),
  },
  {
    name: 'gzip that becomes millions of messages in the Connect router',
    times: 20,
    run: (target, times) => count(repeat(times, () => postMessages(target))),
  },
];

type HeadersOf = (target: Target) => Record<string, string>;

function overHttp1(name: string, path: string, headersOf: HeadersOf, framing = withLength): Attack {
  return {
    ...{ name, times: heldBodies },
    run: (target, times) =>
      count(repeat(times, () => holdOverHttp1(target.baseUrl, path, headersOf(target), framing))),
  };
}

function overHttp2(name: string, path: string, headersOf: HeadersOf): Attack {
  return {
    ...{ name, times: heldBodies },
    async run(target, times) {
      const streams = Math.min(times, streamsPerSession);
      const hold = () => holdOverHttp2(target.baseUrl, path, headersOf(target), streams);
      return count(repeat(Math.ceil(times / streams), hold));
    },
  };
}

function repeat<T>(times: number, start: () => Promise<T>): Promise<T>[] {
  return Array.from({ length: times }, start);
}

async function count(statuses: readonly Promise<string>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const status of await Promise.all(statuses)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function holdOverHttp1(
  baseUrl: string,
  path: string,
  headers: Record<string, string>,
  framing: Framing,
): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  let status = 'none';
  socket.once('data', (answer) => {
    status = answer.toString('latin1', 9, 12);
  });
  const fields = { ...headers, host: 'a', 'content-type': 'application/json' };
  const lines = Object.entries({ ...fields, [framing.name]: framing.value });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${framing.before}`);
  const written = new Promise((resolve) => socket.write(held, resolve));
  await Promise.race([written, closed, delay(maxSendMs)]);
  await delay(holdMs);
  socket.destroy();
  await closed;
  return status;
}

async function holdOverHttp2(
  baseUrl: string,
  path: string,
  headers: Record<string, string>,
  streams: number,
): Promise<string> {
  const session = connectHttp2(baseUrl);
  const closed = new Promise<void>((resolve) => session.once('close', () => resolve()));
  session.on('error', () => {});
  const sent = repeat(streams, async () => {
    const fields = { ':method': 'POST', ':path': path, 'content-type': 'application/json' };
    const stream = session.request({ ...fields, ...headers });
    stream.on('error', () => {});
    stream.resume();
    await Promise.race([
      new Promise((resolve) => stream.write(held, resolve)),
      new Promise((resolve) => stream.once('close', resolve)),
      delay(maxSendMs),
    ]);
  });
  await Promise.all(sent);
  await delay(holdMs);
  session.destroy();
  await closed;
  return 'none';
}

/** Posts a gzip body of BatchCreate; the status of the answer. */
export async function post({ baseUrl, publicKey }: Target, body: Uint8Array): Promise<string> {
  const response = await fetch(baseUrl + batchCreatePath, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-api-key': publicKey,
    },
    body,
  });
  await response.arrayBuffer();
  return String(response.status);
}

async function postMessages({ baseUrl, publicKey }: Target): Promise<string> {
  const envelope = Buffer.alloc(5);
  envelope[0] = 1;
  envelope.writeUInt32BE(messages.length, 1);
  const response = await fetch(baseUrl + batchCreatePath, {
    method: 'POST',
    headers: {
      'content-type': 'application/grpc-web+proto',
      'grpc-encoding': 'gzip',
      'x-api-key': publicKey,
    },
    body: Buffer.concat([envelope, messages]),
  });
  await response.arrayBuffer();
  return String(response.status);
}
