// @jitsu/js: Segment's messages, one a request, with the key in a header.

import {
  type CollectEndpoint,
  type Endpoint,
  type Family,
  jsonBody,
  keyIn,
  type SentHead,
  type SentKey,
  usualAnswers,
} from '../endpoint.ts';
import { decodeMessages } from './segment-spec.ts';

const types = ['page', 'track', 'identify', 'group', 'screen', 'alias', 'event'];

/** `id:secret`; the key stands at either place. */
function keyOf({ headers }: SentHead): SentKey | undefined {
  const sent = headers['x-write-key'];
  if (typeof sent !== 'string' || sent.length > 1_000) return undefined;
  const parts = sent.split(':');
  return keyIn(parts.find((part) => /^(?:pub|prv)_/.test(part)) ?? parts[0], 'header');
}

const done = jsonBody({ ok: true });

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'jitsu',
  keyOf,
  decode: ({ path }, json) =>
    decodeMessages(
      json,
      types.find((type) => path.includes(`/${type}`)),
    ),
  answers: { ...usualAnswers, accepted: { status: 200, body: () => done } },
};

export const jitsu: Family = {
  paths: new Map<string, Endpoint>(
    types.flatMap((type): [string, Endpoint][] => [
      [`/api/s/${type}`, collect],
      [`/api/s/s2s/${type}`, collect],
    ]),
  ),
};
