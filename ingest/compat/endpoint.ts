// What a family of SDKs is to ingest: its paths, where its key stands, how its requests are read, what they are
// answered. families.ts lists the families.

import type { IncomingHttpHeaders } from 'node:http';
import type { CompatFamily } from '../../platform/compat/compat-families.ts';
import type { EventDraft } from './mapping/event-draft.ts';
import type { IdentityCall } from './mapping/identity-call.ts';

/** The head of a request. */
export interface SentHead {
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
}

/** `url`: a private key must not stand there. */
export interface SentKey {
  text: string;
  from: 'body' | 'header' | 'url';
}

/** What a request says: one item each, in the order of the request. */
export interface Decoded {
  events: EventDraft[];
  calls: IdentityCall[];
  /** Items of the request that are no objects. */
  unreadable: number;
}

/** The body of an answer, JSON unless `type` says otherwise. */
export interface AnswerBody {
  text: string;
  type?: string;
}

export interface Answers {
  /** The status of an accepted request, and its body. */
  accepted: { status: 200 | 202; body: (events: number, head: SentHead) => AnswerBody };
  /** Where nothing was taken, or nobody knows: the SDK sends the request again later. */
  overload: 429 | 503;
  /** Where the request cannot be read and never will be: what the SDK takes as the end of it. */
  unreadable: 200 | 400;
  /** The same of a body that is too large; 413 only where the SDK sends it again in parts, or never again. */
  tooLarge: 200 | 400 | 413;
  /** Of a key that opens nothing, and of what its project does not take. 401 and 403 unless given. */
  denied?: 503;
  /** The body of a refusal; Connect's unless given. */
  refused?: (status: number, message: string) => AnswerBody;
}

/** Takes events and identity calls. */
export interface CollectEndpoint {
  kind: 'collect';
  family: CompatFamily;
  /** Whether the head, which tells it, is this family's. */
  hasHead?: (head: SentHead) => boolean;
  /** The path's requests of other families are told by this; `json` is the body. */
  claims?: (head: SentHead, json: unknown) => boolean;
  keyOf: (head: SentHead, json: unknown) => SentKey | undefined;
  /** Never throws, whatever `json` is. */
  decode: (head: SentHead, json: unknown) => Decoded;
  answers: Answers;
  /** What stands in place of `json` where the body is no JSON but a form of this family, or lines of forms. */
  readForm?: (text: string) => unknown;
  /** The body's text stands in the parameter `data` of a GET. */
  takesGet?: true;
}

/** Answers at once what an SDK asks before it sends; the key in it opens nothing. */
export interface FixedEndpoint {
  kind: 'fixed';
  answer: (head: SentHead) => AnswerBody;
}

export type Endpoint = CollectEndpoint | FixedEndpoint;

export interface Family {
  /** A path without a slash at its end. */
  paths: ReadonlyMap<string, Endpoint>;
  /** Paths with a part that varies. */
  match?: (path: string) => Endpoint | undefined;
}

export function noItems(): Decoded {
  return { events: [], calls: [], unreadable: 0 };
}

const json = (value: unknown): AnswerBody => ({ text: JSON.stringify(value) });
const ok = json({ status: 'ok' });

/** 200, and what every SDK takes for a reason to come back later. */
export const usualAnswers: Answers = {
  accepted: { status: 200, body: () => ok },
  overload: 503,
  unreadable: 400,
  tooLarge: 413,
};

export const jsonBody = json;

/** The key of a Basic credential, which is its name; of a Bearer one, its token. */
export function authorizationKey({ headers }: SentHead): SentKey | undefined {
  const { authorization } = headers;
  if (authorization === undefined || authorization.length > 1_000) return undefined;
  const [, scheme = '', value = ''] = /^(basic|bearer) +(\S+) *$/i.exec(authorization) ?? [];
  if (value === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return { text: value, from: 'header' };
  const [name = '', password = ''] = Buffer.from(value, 'base64').toString('latin1').split(':');
  const text = name === '' ? password : name;
  return text === '' ? undefined : { text, from: 'header' };
}

export function keyIn(value: unknown, from: SentKey['from']): SentKey | undefined {
  return typeof value === 'string' && value !== '' ? { text: value, from } : undefined;
}
