// Bounds every field of a request's message before a method looks at it: texts, bytes, lists and maps, at any depth. A
// field that is not listed here has the usual bound, so that a new field has one from its first day. What a field may
// hold besides is its method's own rule.

import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import { isReflectMessage, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';

interface FieldBound {
  /** UTF-16 units of a text, which a look at its length tells; bytes of a bytes field. */
  maxLength: number;
  /** Items of a list, entries of a map. */
  maxItems: number;
}

/** Holds the longest ids, of 512 characters outside the basic plane. Work on it may grow with its square. */
const usual: FieldBound = { maxLength: 1_024, maxItems: 100 };

/** The texts of a read's filters together; the reads' own rule counts them in bytes. */
const maxFilterTextLength = 65_536;

/** `package.Message.field` to its bound, where that is not the usual one. */
export const unusualBounds: ReadonlyMap<string, FieldBound> = new Map([
  // The codes of some providers are tokens of several KiB.
  ['public.auth.v1.SignInWithOAuthRequest.code', { ...usual, maxLength: 8_192 }],
  ['common.v1.PropertyFilter.value', { ...usual, maxLength: maxFilterTextLength }],
  ['common.v1.PropertyFilter.values', { maxLength: maxFilterTextLength, maxItems: 1_000 }],
  ['dashboard.segments.v1.ProfileList.profile_ids', { ...usual, maxItems: 400 }],
  // 10,000 ids of 16 bytes.
  ['shared.activity.v1.FindStoredRequest.event_ids', { ...usual, maxLength: 160_000 }],
  ['dashboard.imports.v1.UploadRequest.data', { ...usual, maxLength: 524_288 }],
  // 2,000 and 100,000 characters, each of two units at most.
  ['dashboard.dashboards.v1.CreateRequest.description', { ...usual, maxLength: 4_000 }],
  ['dashboard.dashboards.v1.UpdateRequest.description', { ...usual, maxLength: 4_000 }],
  ['dashboard.dashboards.v1.UpsertRequest.description', { ...usual, maxLength: 4_000 }],
  ['dashboard.dashboards.v1.Tile.markdown', { ...usual, maxLength: 200_000 }],
  ['dashboard.dashboards.v1.Statement.sql', { ...usual, maxLength: 262_144 }],
]);

/**
 * Requests of SDKs. ingest/validation checks their lengths and counts, because most of them come on the fast path,
 * which has no message, and must get the same answers on both.
 */
export const boundedByIngest: ReadonlySet<string> = new Set([
  'sdk.events.v1.BatchCreateRequest',
  'events.v1.BatchCreateRequest',
  'sdk.profiles.v1.IdentifyRequest',
  'sdk.profiles.v1.AliasRequest',
]);

/** Messages in messages; a definition deeper than this is one that contains itself. */
const maxDepth = 8;

export function boundOf(field: DescField): FieldBound {
  return unusualBounds.get(`${field.parent.typeName}.${field.name}`) ?? usual;
}

/** Refuses requests with invalid_argument; must follow the checks of access, which come before those of arguments. */
export const boundRequests: Interceptor = (next) => async (request) => {
  const { input } = request.method;
  if (boundedByIngest.has(input.typeName)) return next(request);
  if (request.stream) return next({ ...request, message: eachBounded(input, request.message) });
  checkBounds(input, request.message);
  return next(request);
};

async function* eachBounded<T extends Message>(
  desc: DescMessage,
  messages: AsyncIterable<T>,
): AsyncGenerator<T> {
  for await (const message of messages) {
    checkBounds(desc, message);
    yield message;
  }
}

/** Throws invalid_argument that names the field and its bound. Looks at lengths only. */
export function checkBounds(desc: DescMessage, message: Message): void {
  checkFields(reflect(desc, message), '', 1);
}

function checkFields(message: ReflectMessage, prefix: string, depth: number): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    const path = `${prefix}${field.jsonName}`;
    const bound = boundOf(field);
    switch (field.fieldKind) {
      case 'scalar':
      case 'message':
        checkValue(message.get(field), bound, path, depth);
        break;
      case 'list': {
        const list = message.get(field);
        checkItems(list.size, bound, path);
        for (const [index, item] of list.entries()) {
          checkValue(item, bound, `${path}[${index}]`, depth);
        }
        break;
      }
      case 'map': {
        const map = message.get(field);
        checkItems(map.size, bound, path);
        for (const [key, item] of map) {
          checkValue(key, bound, path, depth);
          checkValue(item, bound, path, depth);
        }
        break;
      }
      case 'enum':
        break;
      default:
        field satisfies never;
    }
  }
}

function checkValue(value: unknown, { maxLength }: FieldBound, path: string, depth: number): void {
  if (typeof value === 'string') {
    if (value.length > maxLength) throw refused(path, `takes at most ${maxLength} characters`);
  } else if (value instanceof Uint8Array) {
    if (value.length > maxLength) throw refused(path, `takes at most ${maxLength} bytes`);
  } else if (isReflectMessage(value)) {
    if (depth === maxDepth) throw refused(path, `is deeper than ${maxDepth} messages`);
    checkFields(value, `${path}.`, depth + 1);
  }
}

function checkItems(count: number, { maxItems }: FieldBound, path: string): void {
  if (count > maxItems) throw refused(path, `takes at most ${maxItems}`);
}

function refused(path: string, rule: string): ConnectError {
  return new ConnectError(`${path}: ${rule}`, Code.InvalidArgument);
}
