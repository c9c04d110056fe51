// Receives the body of an SDK's request as the text that it holds, inflated and decoded, all in the memory of the
// request's lease. What the text says is not looked at here.

import type { IncomingMessage } from 'node:http';
import type { BodyReceiver, ReceivedBody } from '../../platform/http/bodies/received-body.ts';
import type { Lease } from '../../platform/http/bodies/request-memory.ts';
import { busyRefusal, type Refusal, violationRefusal } from '../rpc/answer.ts';
import { bodyTooLarge, invalidBody } from '../validation/text/reference-body.ts';
import { isGzip, jsonTextOf } from './mapping/sent-body.ts';

/** Undefined where the sender is gone. */
export async function receiveText(
  request: IncomingMessage,
  bodies: BodyReceiver,
  lease: Lease,
  maxBytes: number,
): Promise<Buffer | Refusal | undefined> {
  const encoding = request.headers['content-encoding'] === 'br' ? 'br' : 'identity';
  const received = await bodies.receive(request, { lease, maxBytes, encoding });
  const inflated = await inflatedOf(received, bodies, lease, maxBytes);
  if (inflated.kind !== 'received') return refusalOf(inflated, maxBytes);
  const text = jsonTextOf(inflated.bytes);
  if (text !== inflated.bytes && !lease.take(text.length)) return busyRefusal();
  // Base64 may hold gzip, too.
  const inner = await inflatedOf({ kind: 'received', bytes: text }, bodies, lease, maxBytes);
  return inner.kind === 'received' ? inner.bytes : refusalOf(inner, maxBytes);
}

type Body = Exclude<ReceivedBody, { kind: 'received' }> | { kind: 'received'; bytes: Buffer };

async function inflatedOf(
  body: Body,
  bodies: BodyReceiver,
  lease: Lease,
  maxBytes: number,
): Promise<Body> {
  if (body.kind !== 'received' || !isGzip(body.bytes)) return body;
  return bodies.inflate(body.bytes, { lease, maxBytes, encoding: 'gzip' });
}

function refusalOf(
  body: Exclude<Body, { kind: 'received' }>,
  maxBytes: number,
): Refusal | undefined {
  switch (body.kind) {
    case 'gone':
      return undefined;
    case 'busy':
      return busyRefusal();
    case 'too_large':
      return violationRefusal(bodyTooLarge(maxBytes).violation);
    case 'undecodable':
    case 'unknown_encoding':
      return violationRefusal(invalidBody('body_encoding').violation);
    default:
      return body satisfies never;
  }
}
