// Has the Connect router's bodies received like all others: counted, bounded and decompressed here, before the router
// sees them. Left to itself, it would hold and decompress as much as anybody sends.

import { isUtf8 } from 'node:buffer';
import type { DescMessage } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createContextKey,
  type HandlerContext,
} from '@connectrpc/connect';
import type {
  Compression,
  UniversalHandler,
  UniversalServerRequest,
} from '@connectrpc/connect/protocol';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import { ruleText } from '../../../proto/wire/rules.ts';
import { callerIdOf } from '../../access/auth-interceptor.ts';
import { boundedByIngest } from '../../access/request-bounds.ts';
import * as limits from '../../limits.ts';
import { checkVersion, routerHeaders } from '../router/call-headers.ts';
import { withEnvelope } from '../router/unsupported-call.ts';
import { withoutByteOrderMark } from './byte-order-mark.ts';
import { envelopeBytes, envelopeOf, openEnvelope } from './envelope.ts';
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
/**
 * JSON that the router parses makes an object of all names in it, 200 ns each. ingest reads its own JSON, and larger.
 */
const maxJsonBytes = 1_048_576;
const emptyJson = Buffer.from('{}');

const receivedJsonKey = createContextKey<Buffer | undefined>(undefined, {
  description: 'received JSON',
});

/**
 * The JSON of a request to ingest that came in an envelope, as it was sent: the handler's own message is empty then.
 * protobuf-es reads more than ingest's rules allow, and changes what it reads: 30 February becomes 2 March.
 */
export function receivedJsonOf(context: Pick<HandlerContext, 'values'>): Buffer | undefined {
  return context.values.get(receivedJsonKey);
}

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
  const isStream = method.methodKind !== 'unary';
  const serve = (request: UniversalServerRequest) =>
    bodies.memory.during(async (lease) => {
      const header = routerHeaders(request.header);
      const body = receive({ ...request, header }, method.input, { bodies, lease, maxBytes });
      const sent = request.contextValues?.get(nodeRequestKey);
      try {
        const answer = await handler({ ...request, header, body });
        if (sent !== undefined && isStream && answer.status !== 200) bodies.answerUnread(sent);
        return withEnvelope(answer, isStream, header.get('content-type'));
      } finally {
        // The body of a stream's request is read while its answer is written, if that is one.
        if (sent !== undefined && !isStream) bodies.answerUnread(sent);
      }
    });
  const names = { protocolNames, supportedContentType, allowedMethods, requestPath };
  return Object.assign(serve, { ...names, service, method });
}

interface Encoding {
  /** Unary Connect compresses a body, all other protocols the message in its envelope. */
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

interface Receiving {
  bodies: BodyReceiver;
  lease: Lease;
  maxBytes: number;
}

/**
 * Runs when the handler reads: after access was checked, and never for a refused call. Yields only what the router can
 * decode: its own decoder calls a broken message an internal error.
 */
async function* receive(
  { header, contextValues }: UniversalServerRequest,
  message: DescMessage,
  { bodies, lease, maxBytes }: Receiving,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const request = contextValues?.get(nodeRequestKey);
  if (contextValues === undefined || request === undefined) {
    throw new ConnectError('the request came through no port', Code.Internal);
  }
  checkVersion(header);
  lease.claim(callerIdOf(contextValues) ?? strangers);
  const { of, name, isJson } = encodingOf(header);
  const isIngests = isJson && of === 'message' && boundedByIngest.has(message.typeName);
  const most = isJson && !isIngests ? Math.min(maxBytes, maxJsonBytes) : maxBytes;
  const bound = { lease, maxBytes: most, encoding: name };
  let bytes =
    of === 'body'
      ? bytesOf(await bodies.receive(request, bound), most)
      : await receiveMessage(request, bodies, bound);
  if (!isJson) checkFields(message, bytes);
  else if (!isUtf8(bytes)) throw invalidBody(ruleText('body_utf8', limits));
  if (!lease.take(copiesInRouter * bytes.length)) throw busyError();
  if (isIngests) {
    // A copy: a handler that is late outlives the lease.
    contextValues.set(receivedJsonKey, Buffer.from(withoutByteOrderMark(bytes)));
    bytes = emptyJson;
  }
  if (of === 'message') yield envelopeOf(bytes);
  yield bytes;
}

/** The one message of a call, decompressed. */
async function receiveMessage(
  request: NodeRequest,
  bodies: BodyReceiver,
  bound: { lease: Lease; maxBytes: number; encoding: string },
): Promise<Buffer<ArrayBuffer>> {
  const { lease, maxBytes, encoding } = bound;
  const whole = { lease, maxBytes: envelopeBytes + maxBytes, encoding: 'identity' };
  const sent = openEnvelope(bytesOf(await bodies.receive(request, whole), maxBytes));
  switch (sent.kind) {
    case 'message':
      if (!sent.isCompressed) return sent.bytes;
      if (encoding === 'identity') {
        throw invalidBody('its envelope says that it is compressed, and no header says how');
      }
      return bytesOf(await bodies.inflate(sent.bytes, bound), maxBytes);
    case 'cut':
      if (sent.promised > maxBytes) throw tooLarge(maxBytes);
      throw invalidBody('is shorter than its envelope says');
    case 'messages':
      throw new ConnectError(`one message is needed, got ${sent.count}`, Code.Unimplemented);
    default:
      return sent satisfies never;
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
    case 'depth':
      return `body: ${ruleText('body_depth', limits)}`;
    case 'undecodable':
      return `body: ${ruleText('body_protobuf', limits)}`;
    default:
      return fault satisfies never;
  }
}

function bytesOf(received: ReceivedBody, maxBytes: number): Buffer<ArrayBuffer> {
  switch (received.kind) {
    case 'received':
      return received.bytes;
    case 'busy':
      throw busyError();
    case 'too_large':
      throw tooLarge(maxBytes);
    case 'undecodable':
      throw invalidBody(ruleText('body_encoding', limits));
    case 'unknown_encoding':
      throw new ConnectError('unknown content encoding', Code.Unimplemented);
    case 'gone':
      throw new ConnectError('the request was cut off', Code.Canceled);
    default:
      return received satisfies never;
  }
}

function tooLarge(maxBytes: number): ConnectError {
  return new ConnectError(`the body is larger than ${maxBytes} bytes`, Code.InvalidArgument);
}

function invalidBody(rule: string): ConnectError {
  return new ConnectError(`body: ${rule}`, Code.InvalidArgument);
}

function busyError(): ConnectError {
  const metadata = { 'retry-after': String(busy.retryAfterSeconds) };
  return new ConnectError(busy.message, Code.ResourceExhausted, metadata);
}
