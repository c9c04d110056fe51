// Calls of one message in every protocol and over both versions of HTTP, as bytes: for bodies and headers that no
// client library would send. Reads of an answer only whether it is one, and its code and message otherwise.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { Code } from '@connectrpc/connect';

export interface Way {
  protocol: 'connect' | 'connect stream' | 'grpc' | 'grpc-web';
  format: 'json' | 'proto';
  /** `1.1 chunked`: of unknown length, so that no fast path takes it. */
  http: '1.1' | '1.1 chunked' | '2';
}

interface RawAnswer {
  status: number;
  headers: Record<string, unknown>;
  trailers: Record<string, unknown>;
  body: Buffer;
}

/** `code` is `ok`, or Connect's name of the error's. */
export interface Verdict extends RawAnswer {
  code: string;
  message: string;
}

type Headers = Record<string, string>;

export class RawClient {
  readonly #url: URL;
  #session: ClientHttp2Session | undefined;

  constructor(baseUrl: string) {
    this.#url = new URL(baseUrl);
  }

  close(): void {
    this.#session?.close();
  }

  /** Sends `body` as it is: with its envelope where the protocol has one. */
  async call(way: Way, path: string, headers: Headers, body: Buffer): Promise<Verdict> {
    const sent = { 'content-type': contentTypeOf(way), ...headers };
    return verdictOf(way, await this.send(way.http, 'POST', path, sent, body));
  }

  send(
    http: Way['http'],
    method: string,
    path: string,
    headers: Headers,
    body: Buffer = Buffer.alloc(0),
  ): Promise<RawAnswer> {
    return http === '2'
      ? this.#sendOver2(method, path, headers, body)
      : this.#sendOver1(method, path, headers, body, http === '1.1 chunked');
  }

  async #sendOver1(
    method: string,
    path: string,
    headers: Headers,
    body: Buffer,
    isChunked: boolean,
  ): Promise<RawAnswer> {
    const { hostname, port } = this.#url;
    const length: Headers = isChunked ? {} : { 'content-length': String(body.length) };
    const sent = httpRequest({
      ...{ hostname, port, path, method },
      headers: { ...length, ...headers },
    });
    // A body that nobody reads is cut off behind its answer.
    sent.on('error', () => {});
    if (isChunked) sent.write(body);
    sent.end(isChunked ? undefined : body);
    const [response] = await once(sent, 'response');
    const received = await buffer(response);
    const { statusCode, trailers } = response;
    return { status: statusCode, headers: response.headers, trailers, body: received };
  }

  async #sendOver2(
    method: string,
    path: string,
    headers: Headers,
    body: Buffer,
  ): Promise<RawAnswer> {
    // The port ends a session whose streams it had to cut.
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(this.#url).on('error', () => {});
    }
    const stream = this.#session.request({ ':method': method, ':path': path, ...headers });
    stream.on('error', () => {});
    let trailers = {};
    stream.on('trailers', (fields) => {
      trailers = fields;
    });
    if (body.length > 0) stream.write(body);
    stream.end();
    const [fields] = await once(stream, 'response');
    const received = await buffer(stream);
    return { status: Number(fields[':status']), headers: fields, trailers, body: received };
  }
}

export function contentTypeOf({ protocol, format }: Way): string {
  switch (protocol) {
    case 'connect':
      return `application/${format}`;
    case 'connect stream':
      return `application/connect+${format}`;
    case 'grpc':
    case 'grpc-web':
      return `application/${protocol}+${format}`;
    default:
      return protocol satisfies never;
  }
}

/** The header that names how the body, or the message in its envelope, is compressed. */
export function encodingHeader({ protocol }: Way): string {
  if (protocol === 'connect') return 'content-encoding';
  return protocol === 'connect stream' ? 'connect-content-encoding' : 'grpc-encoding';
}

export function enveloped(message: Uint8Array, flags = 0, promised = message.length): Buffer {
  const envelope = Buffer.alloc(5);
  envelope.writeUInt8(flags);
  envelope.writeUInt32BE(promised, 1);
  return Buffer.concat([envelope, message]);
}

function verdictOf({ protocol }: Way, answer: RawAnswer): Verdict {
  if (protocol === 'connect' || answer.status !== 200) {
    return { ...answer, ...errorIn(answer.status === 200 ? {} : parse(answer.body)) };
  }
  switch (protocol) {
    case 'connect stream':
      return { ...answer, ...errorIn(parse(lastMessage(answer.body))['error'] ?? {}) };
    case 'grpc':
      return { ...answer, ...statusIn({ ...answer.headers, ...answer.trailers }) };
    case 'grpc-web': {
      const lines = lastMessage(answer.body).toString().split('\r\n');
      const fields = lines.map((line) => line.split(/: ?/, 2));
      return { ...answer, ...statusIn({ ...answer.headers, ...Object.fromEntries(fields) }) };
    }
    default:
      return protocol satisfies never;
  }
}

function lastMessage(body: Buffer): Buffer {
  let message: Buffer = Buffer.alloc(0);
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    message = body.subarray(at + 5, end);
    at = end;
  }
  return message;
}

function parse(json: Buffer): Record<string, unknown> {
  return json.length === 0 ? { code: 'no body' } : JSON.parse(json.toString());
}

function errorIn(error: unknown): { code: string; message: string } {
  const { code = 'ok', message = '' } = { ...Object(error) };
  return { code: String(code), message: String(message) };
}

function statusIn(fields: Record<string, unknown>): { code: string; message: string } {
  const name = Code[Number(fields['grpc-status'])] ?? 'ok';
  const code = name.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();
  return { code, message: decodeURIComponent(String(fields['grpc-message'] ?? '')) };
}
