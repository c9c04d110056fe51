// @rudderstack/analytics-js, rudder-sdk-js and rudder-sdk-node: Segment's messages, on some of the same paths.

import { fieldOf } from '../../../platform/json.ts';
import {
  type Answers,
  type CollectEndpoint,
  type Decoded,
  type Endpoint,
  type Family,
  jsonBody,
  keyIn,
  type SentHead,
  usualAnswers,
} from '../endpoint.ts';
import { decodeMessages, messagesOf, writeKeyOf } from './segment-spec.ts';

const types = ['track', 'page', 'identify', 'group', 'alias', 'screen'];

const done = jsonBody({ success: true });
/** The browser keeps its queue on 429 and 5xx; Node obeys Retry-After. Both drop what is answered 400. */
const answers: Answers = {
  ...usualAnswers,
  accepted: { status: 200, body: () => done },
  overload: 429,
};

function decode({ path }: SentHead, json: unknown): Decoded {
  const [type] = path.split('/').filter((part) => types.includes(part));
  return decodeMessages(json, type);
}

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'rudderstack',
  // Segment's SDKs name no channel.
  claims: (_head, json) => typeof fieldOf(messagesOf(json)[0], 'channel') === 'string',
  keyOf: writeKeyOf,
  decode,
  answers,
};

/** Without a source that is enabled, the browser's SDK stores and sends nothing. */
function sourceConfig({ query }: SentHead): object {
  const key = query.get('writeKey') ?? '';
  const source = {
    id: 'millrace',
    name: 'millrace',
    writeKey: key.slice(0, 200),
    workspaceId: 'millrace',
    enabled: true,
    config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
    destinations: [],
    dataplanes: {},
  };
  return { source, updatedAt: '2026-01-01T00:00:00.000Z', consentManagementMetadata: {} };
}

/** With `useBeacon`: a beacon has no headers. */
const beacon: CollectEndpoint = {
  ...collect,
  keyOf: ({ query }) => keyIn(query.get('writeKey'), 'url'),
};

export const rudderstack: Family = {
  paths: new Map<string, Endpoint>([
    ...[...types, 'batch'].map((name): [string, Endpoint] => [`/v1/${name}`, collect]),
    ['/beacon/v1/batch', beacon],
    ['/sourceConfig', { kind: 'fixed', answer: (head) => jsonBody(sourceConfig(head)) }],
  ]),
};
