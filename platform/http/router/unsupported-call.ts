// The answers to calls that no protocol of a method takes: another HTTP method than POST, another content type. Both
// come before the check of access, as the error's own form depends on the content type.

import { createAsyncIterable, type UniversalServerResponse } from '@connectrpc/connect/protocol';

const unaryTypes = ['application/json', 'application/proto'];
const streamTypes = ['application/connect+json', 'application/connect+proto'];
/** gRPC's types take unary calls and streams alike. */
const grpcTypes = ['application/grpc', 'application/grpc-web'].flatMap((type) => [
  type,
  `${type}+proto`,
  `${type}+json`,
]);

/** The router's answer, with an envelope where that is a bare 405 or 415. */
export function withEnvelope(
  answer: UniversalServerResponse,
  isStream: boolean,
  contentType: string | null,
): UniversalServerResponse {
  switch (answer.status) {
    case 405:
      return envelope(405, isStream, 'unimplemented', 'methods are called by POST');
    case 415:
      return envelope(415, isStream, 'invalid_argument', typeRule(isStream, contentType ?? ''));
    default:
      return answer;
  }
}

function typeRule(isStream: boolean, sent: string): string {
  const types = isStream ? streamTypes : unaryTypes;
  const rule = `content-type must be ${types.join(' or ')}, or one of gRPC or gRPC-web`;
  const [, prefix, format] = /^application\/(connect\+)?(json|proto)$/i.exec(sent) ?? [];
  if (format === undefined) return rule;
  return isStream && prefix === undefined
    ? `this method answers with a stream: ${rule}; five bytes precede each message, a zero and the length`
    : `this method answers with one message: ${rule}`;
}

function envelope(
  status: number,
  isStream: boolean,
  code: string,
  message: string,
): UniversalServerResponse {
  const body = new TextEncoder().encode(JSON.stringify({ code, message }));
  const header = new Headers({
    'content-type': 'application/json',
    'content-length': String(body.length),
    allow: 'POST',
    'accept-post': [...(isStream ? streamTypes : unaryTypes), ...grpcTypes].join(', '),
  });
  return { status, header, body: createAsyncIterable([body]) };
}
