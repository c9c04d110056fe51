// Reads a request's JSON body within its bounds. What the JSON may say is its method's schema.

import { Code, ConnectError } from '@connectrpc/connect';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { withoutByteOrderMark } from '../../../platform/http/bodies/byte-order-mark.ts';
import { isTooDeep } from '../../../platform/http/bodies/json-depth.ts';
import {
  type BodyReceiver,
  busy,
  type NodeRequest,
} from '../../../platform/http/bodies/received-body.ts';
import type { Lease } from '../../../platform/http/bodies/request-memory.ts';
import { jsonFault } from '../../../platform/json-fault.ts';
import * as limits from '../../../platform/limits.ts';
import { ruleText } from '../../../proto/wire/rules.ts';
import { exhausted } from './refusals.ts';

/** Fifty subscriptions with the longest ids take a tenth of it. */
const maxBodyBytes = 256 * 1_024;

/** Undefined where the sender is gone. Throws invalid_argument and resource_exhausted. */
export async function readJsonBody(
  request: NodeRequest,
  bodies: BodyReceiver,
  lease: Lease,
): Promise<{ json: unknown } | undefined> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const received = await bodies.receive(request, { lease, maxBytes: maxBodyBytes, encoding });
  switch (received.kind) {
    case 'received':
      return { json: parsed(withoutByteOrderMark(received.bytes)) };
    case 'gone':
      return undefined;
    case 'too_large':
      throw invalidArgument('body', `must have at most ${maxBodyBytes} bytes`);
    case 'undecodable':
      throw invalidArgument('body', 'cannot be decompressed');
    case 'busy':
      throw exhausted(busy.message, busy.retryAfterSeconds);
    case 'unknown_encoding':
      throw new ConnectError(
        'unknown content encoding: supported encodings are gzip, br',
        Code.Unimplemented,
      );
    default:
      return received satisfies never;
  }
}

function parsed(bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidArgument('body', 'must be valid UTF-8');
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    const fault = jsonFault(bytes);
    throw invalidArgument('body', `must be valid JSON${fault === undefined ? '' : `: ${fault}`}`);
  }
  if (isTooDeep(bytes)) throw invalidArgument('body', ruleText('body_depth', limits));
  return json;
}
