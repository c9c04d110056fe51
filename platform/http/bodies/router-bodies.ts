// Has the Connect router's bodies received like all others: counted, bounded and decompressed here, before the router
// sees them. Left to itself, it would hold and decompress as much as anybody sends.

import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, createContextKey } from '@connectrpc/connect';
import type {
  Compression,
  UniversalHandler,
  UniversalServerRequest,
} from '@connectrpc/connect/protocol';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import { ruleText } from '../../../proto/wire/rules.ts';
import { callerIdOf } from '../../access/auth-interceptor.ts';
import * as limits from '../../limits.ts';
import { type FieldFault, fieldFault } from './message-fields.ts';
import { type BodyReceiver, busy, type NodeRequest, type ReceivedBody } from './received-body.ts';
import { type Lease, strangers } from './request-memory.ts';

/** The node request behind a call, where the port puts it. */
export const nodeRequestKey = createContextKey<NodeRequest | undefined>(undefined, {
  description: 'node request',
});

/** For the router: answers are compressed, and requests were decompressed before. */
export const routerCompressions: Compression[] = [compressionGzip, compressionBrotli].map(
  ({ name, compress }) => ({ name, compress, decompress: asItIs }),
);

async function asItIs({
  buffer,
  byteOffset,
  length,
}: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  if (buffer instanceof ArrayBuffer) return new Uint8Array(buffer, byteOffset, length);
  throw new Error('a message lies in shared memory');
}

/** The router copies a body, then makes text of it, then objects. */
const copiesInRouter = 3;
/** Flags and length in front of each message of gRPC and of Connect's streams. */
const envelopeBytes = 5;
const compressedFlag = 1;
/**
 * JSON that comes here is parsed with all names that it holds, 200 ns each; ingest has readers of its own for larger
 * bodies of JSON in unary Connect.
 */
const maxJsonBytes = 1_048_576;

interface Options {
  bodies: BodyReceiver;
  /** The largest body of `package.Service/Method`, after decompression. */
  maxBytesOf: (method: string) => number;
}

/** Call it after all else that wraps handlers. Throws for a method that takes a stream of requests. */
export function receiveBodies(router: ConnectRouter, options: Options): void {
  for (const [index, handler] of router.handlers.entries()) {
    const { methodKind, name } = handler.method;
    if (methodKind !== 'unary' && methodKind !== 'server_streaming') {
      throw new Error(`the port does not count the requests of ${name}, which are a stream`);
    }
    router.handlers[index] = received(handler, options);
  }
}

function received(handler: UniversalHandler, { bodies, maxBytesOf }: Options): UniversalHandler {
  const { protocolNames, supportedContentType, allowedMethods, requestPath, service, method } =
    handler;
  const maxBytes = maxBytesOf(`${service.typeName}/${method.name}`);
  const serve = (request: UniversalServerRequest) =>
    bodies.memory.during((lease) => {
      const encoding = encodingOf(request.header);
      const most = encoding.isJson ? Math.min(maxBytes, maxJsonBytes) : maxBytes;
      const receiving = { bodies, lease, maxBytes: most, message: method.input };
      const body = receive(request, encoding, receiving);
      const header = withoutLength(request.header);
      return handler({ ...request, header, body }).finally(() => {
        const sent = request.contextValues?.get(nodeRequestKey);
        // The body of a stream's request is read while its answer is written.
        if (sent !== undefined && method.methodKind === 'unary') bodies.answerUnread(sent);
      });
    });
  const names = { protocolNames, supportedContentType, allowedMethods, requestPath };
  return Object.assign(serve, { ...names, service, method });
}

interface Encoding {
  /** Unary Connect compresses a body, all other protocols each message in it. */
  of: 'body' | 'message';
  name: string;
  isJson: boolean;
}

function encodingOf(header: Headers): Encoding {
  const type = header.get('content-type') ?? '';
  const isJson = /json/i.test(type);
  if (!/^application\/(?:connect|grpc)/i.test(type)) {
    return { of: 'body', name: header.get('content-encoding') ?? 'identity', isJson };
  }
  const isConnect = /^application\/connect/i.test(type);
  const name = header.get(isConnect ? 'connect-content-encoding' : 'grpc-encoding');
  return { of: 'message', name: name ?? 'identity', isJson };
}

/**
 * The router would compare a body's length with its header, and a decompressed body has another. It would also take
 * memory for all that the header promises.
 */
function withoutLength(header: Headers): Headers {
  const without = new Headers(header);
  without.delete('content-length');
  return without;
}

interface Receiving {
  bodies: BodyReceiver;
  lease: Lease;
  maxBytes: number;
  message: DescMessage;
}

/** Runs when the handler reads: after access was checked, and never for a refused call. */
async function* receive(
  { contextValues }: UniversalServerRequest,
  encoding: Encoding,
  { bodies, lease, maxBytes, message }: Receiving,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const request = contextValues?.get(nodeRequestKey);
  if (contextValues === undefined || request === undefined) {
    throw new ConnectError('the request came through no port', Code.Internal);
  }
  lease.claim(callerIdOf(contextValues) ?? strangers);
  const bound = { lease, maxBytes, encoding: encoding.name };
  let bytes: Buffer<ArrayBuffer>;
  let envelope: Buffer<ArrayBuffer> | undefined;
  if (encoding.of === 'body') {
    bytes = bytesOf(await bodies.receive(request, bound), maxBytes);
  } else {
    const whole = { lease, maxBytes: envelopeBytes + maxBytes, encoding: 'identity' };
    bytes = bytesOf(await bodies.receive(request, whole), maxBytes);
    if (isCompressed(bytes)) {
      const sent = bytes.subarray(envelopeBytes);
      bytes = bytesOf(await bodies.inflate(sent, bound), maxBytes);
      envelope = envelopeOf(bytes);
    }
  }
  if (!encoding.isJson) {
    const messages = encoding.of === 'body' || envelope !== undefined ? [bytes] : messagesIn(bytes);
    for (const sent of messages) checkFields(message, sent);
  }
  if (!lease.take(copiesInRouter * bytes.length)) throw busyError();
  if (envelope !== undefined) yield envelope;
  yield bytes;
}

/** The messages behind their envelopes; what is cut off is the router's to refuse. */
function* messagesIn(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at + envelopeBytes <= bytes.length; ) {
    const end = at + envelopeBytes + bytes.readUInt32BE(at + 1);
    yield bytes.subarray(at + envelopeBytes, end);
    at = end;
  }
}

function checkFields(message: DescMessage, bytes: Buffer): void {
  const fault = fieldFault(message, bytes, limits.maxEventsPerRequest);
  if (fault === undefined) return;
  throw new ConnectError(faultText(fault), Code.InvalidArgument);
}

/** The words of ingest's own readers, so that a caller reads the same in every protocol. */
function faultText(fault: FieldFault): string {
  switch (fault.kind) {
    case 'items': {
      const { field, count } = fault;
      return `${field}: must hold at most ${limits.maxEventsPerRequest} ${field}, got ${count}`;
    }
    case 'members':
      return `body: ${ruleText('members_count', limits)}`;
    case 'fields':
      return `body: ${ruleText('fields_count', limits)}`;
    case 'undecodable':
      return `body: ${ruleText('body_protobuf', limits)}`;
    default:
      return fault satisfies never;
  }
}

/** Whether the bytes are one message, and that is compressed. */
function isCompressed(bytes: Buffer): boolean {
  if (bytes.length < envelopeBytes || bytes.length - envelopeBytes !== bytes.readUInt32BE(1)) {
    return false;
  }
  return bytes.length > envelopeBytes && ((bytes[0] ?? 0) & compressedFlag) !== 0;
}

/** It still says `compressed`, since the router's decompression returns what it is given. */
function envelopeOf(message: Buffer): Buffer<ArrayBuffer> {
  const envelope = Buffer.alloc(envelopeBytes);
  envelope[0] = compressedFlag;
  envelope.writeUInt32BE(message.length, 1);
  return envelope;
}

function bytesOf(received: ReceivedBody, maxBytes: number): Buffer<ArrayBuffer> {
  switch (received.kind) {
    case 'received':
      return received.bytes;
    case 'busy':
      throw busyError();
    case 'too_large':
      throw new ConnectError(`the body is larger than ${maxBytes} bytes`, Code.InvalidArgument);
    case 'undecodable':
      throw new ConnectError('the body could not be decompressed', Code.InvalidArgument);
    case 'unknown_encoding':
      throw new ConnectError('unknown content encoding', Code.Unimplemented);
    case 'gone':
      throw new ConnectError('the request was cut off', Code.Canceled);
    default:
      return received satisfies never;
  }
}

function busyError(): ConnectError {
  const metadata = { 'retry-after': String(busy.retryAfterSeconds) };
  return new ConnectError(busy.message, Code.ResourceExhausted, metadata);
}
