// S3-compatible storage on this machine, in memory: files in one bucket, by path or by host, to whoever signs as
// signature version 4 says (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). The signature and
// the body's hash are worked out here, by nothing that the product has.

import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { listen } from '../listen.ts';

export interface StoredFile {
  data: Buffer;
  headers: Record<string, string>;
}

export interface S3Request {
  method: string;
  /** Without the bucket. */
  key: string;
}

/** How a request is answered instead: a status with an error's code, broken off, or done and never answered. */
export type S3Fault = { status: number; code: string } | 'break off' | 'corrupt' | undefined;

export interface S3Server {
  url: string;
  port: number;
  files: Map<string, StoredFile>;
  /** Those that were let in, in their order. */
  requests: S3Request[];
  /** Asked for each request that is let in. */
  fault: (request: S3Request) => S3Fault | Promise<S3Fault>;
  close(): Promise<void>;
}

export const s3Key = {
  accessKeyId: 'AKIDEXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
export const s3Region = 'eu-central-1';

const skewMs = 900_000;

export async function startS3Server(bucket: string): Promise<S3Server> {
  const server: S3Server = {
    ...{ url: '', port: 0, files: new Map(), requests: [] },
    fault: () => undefined,
    close: async () => {},
  };
  const http = createServer((request, response) => {
    answer(server, bucket, request, response).catch(() => response.destroy());
  });
  server.port = await listen(http);
  server.url = `http://127.0.0.1:${server.port}`;
  server.close = () =>
    new Promise((resolve) => {
      http.close(() => resolve());
      http.closeAllConnections();
    });
  return server;
}

async function answer(
  server: S3Server,
  bucket: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const data = Buffer.from(await textOf(request.setEncoding('latin1')), 'latin1');
  const refusal = refusalOf(request, data);
  if (refusal !== undefined) return fail(response, 403, refusal);
  const { method = '', url = '', headers } = request;
  const path = decodeURIComponent(url.slice(1));
  const isByHost = headers.host?.startsWith(`${bucket}.`) ?? false;
  const slash = path.indexOf('/');
  if (!isByHost && path.slice(0, slash) !== bucket) return fail(response, 404, 'NoSuchBucket');
  const key = isByHost ? path : path.slice(slash + 1);
  const asked = { method, key };
  server.requests.push(asked);
  const fault = await server.fault(asked);
  if (fault === 'break off') return void response.destroy();
  if (typeof fault === 'object') return fail(response, fault.status, fault.code);
  const file = server.files.get(key);
  switch (method) {
    case 'PUT': {
      const kept = fault === 'corrupt' ? Buffer.concat([Buffer.from('5;\r\n'), data]) : data;
      server.files.set(key, { data: kept, headers: metadataOf(headers) });
      return void response.writeHead(200, { etag: '"anything"' }).end();
    }
    case 'DELETE':
      server.files.delete(key);
      return void response.writeHead(204).end();
    case 'HEAD':
    case 'GET': {
      if (file === undefined) return fail(response, 404, 'NoSuchKey');
      response.writeHead(200, { ...file.headers, 'content-length': file.data.length });
      return void response.end(method === 'GET' ? file.data : undefined);
    }
    default:
      return fail(response, 405, 'MethodNotAllowed');
  }
}

function metadataOf(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-amz-meta-') && typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

function fail(response: ServerResponse, status: number, code: string): void {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
}

const form =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

/** The code of the error, where the request is not signed as it must be. */
function refusalOf(
  { method, url = '', headers }: IncomingMessage,
  data: Buffer,
): string | undefined {
  const [, keyId, day, region, names = '', signature] =
    form.exec(headers.authorization ?? '') ?? [];
  if (signature === undefined) return 'AccessDenied';
  if (keyId !== s3Key.accessKeyId) return 'InvalidAccessKeyId';
  if (region !== s3Region) return 'AuthorizationHeaderMalformed';
  const moment = String(headers['x-amz-date']);
  const atMs = Date.parse(
    moment.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  if (!moment.startsWith(String(day))) return 'AuthorizationHeaderMalformed';
  if (!(Math.abs(Date.now() - atMs) < skewMs)) return 'RequestTimeTooSkewed';
  const bodyHash = createHash('sha256').update(data).digest('hex');
  if (headers['x-amz-content-sha256'] !== bodyHash) return 'XAmzContentSHA256Mismatch';
  const signedNames = names.split(';');
  const mustBeSigned = [
    'host',
    ...Object.keys(headers).filter((name) => name.startsWith('x-amz-')),
  ];
  if (!mustBeSigned.every((name) => signedNames.includes(name))) return 'AccessDenied';
  const [path = '', query = ''] = url.split('?');
  const canonical = [
    method,
    decodeURIComponent(path).split('/').map(escaped).join('/'),
    query,
    ...signedNames.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', moment, scope, sha256(canonical)].join('\n');
  const signingKey = [region, 's3', 'aws4_request'].reduce(
    (key, part) => hmac(key, part),
    hmac(`AWS4${s3Key.secret}`, String(day)),
  );
  return hmac(signingKey, toSign).toString('hex') === signature
    ? undefined
    : 'SignatureDoesNotMatch';
}

function escaped(part: string): string {
  return [...Buffer.from(part)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (/[A-Za-z0-9._~-]/.test(character)) return character;
      return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
