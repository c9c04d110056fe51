// @segment/analytics-next and @segment/analytics-node: one message a request, or batches.

import {
  type Answers,
  type CollectEndpoint,
  type Decoded,
  type Endpoint,
  type Family,
  jsonBody,
  type SentHead,
  usualAnswers,
} from '../endpoint.ts';
import { decodeMessages, writeKeyOf } from './segment-spec.ts';

const typesOfPaths: ReadonlyMap<string, string> = new Map([
  ['/v1/t', 'track'],
  ['/v1/p', 'page'],
  ['/v1/i', 'identify'],
  ['/v1/g', 'group'],
  ['/v1/a', 'alias'],
  ['/v1/s', 'screen'],
  ['/v1/track', 'track'],
  ['/v1/page', 'page'],
  ['/v1/identify', 'identify'],
  ['/v1/group', 'group'],
  ['/v1/alias', 'alias'],
  ['/v1/screen', 'screen'],
]);

const done = jsonBody({ success: true });

/** Obeys Retry-After of 429, which counts against no try of Node's; drops what is answered 400. */
const answers: Answers = {
  ...usualAnswers,
  accepted: { status: 200, body: () => done },
  overload: 429,
};

function decode({ path }: SentHead, json: unknown): Decoded {
  return decodeMessages(json, typesOfPaths.get(path.replace(/\/$/, '')));
}

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'segment',
  keyOf: writeKeyOf,
  decode,
  answers,
};

const settingsPath = /^\/v1\/projects\/([\w.-]{1,200})\/settings$/;

/**
 * Without settings the SDK sends nothing, and these say where its events go: here. It adds https by itself; a page that
 * came by https may call nothing else.
 */
function settings(key: string, { headers }: SentHead): object {
  const isSecure =
    headers['x-forwarded-proto'] === 'https' || headers.origin?.startsWith('https:') === true;
  const apiHost = `${headers.host ?? 'localhost'}/v1`;
  const destination = { apiKey: key, apiHost, ...(!isSecure && { protocol: 'http' }) };
  return { integrations: { 'Segment.io': destination }, plan: {}, metrics: { sampleRate: 0 } };
}

function matchSettings(path: string): Endpoint | undefined {
  const [, key] = settingsPath.exec(path) ?? [];
  if (key === undefined) return undefined;
  return { kind: 'fixed', answer: (head) => jsonBody(settings(key, head)) };
}

export const segment: Family = {
  paths: new Map<string, Endpoint>([
    ...[...typesOfPaths.keys(), '/v1/b', '/v1/batch', '/v1/import'].map(
      (path): [string, Endpoint] => [path, collect],
    ),
    // The SDK's figures about itself, which nobody reads.
    ['/v1/m', { kind: 'fixed', answer: () => done }],
  ]),
  match: matchSettings,
};
