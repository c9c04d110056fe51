// GetFilterSchema of InsightsService and ActivityService: the kinds and property names of a project, for pickers. A
// project has as many names as its senders invent; an answer has a bounded number of them, the most frequent. The
// statements are seen-names.ts's.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import {
  hasMoreCodePoints,
  maxKindCharacters,
  maxPropertyKeyCodePoints,
} from '../../platform/limits.ts';
import { PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type GetFilterSchemaRequest,
  type GetFilterSchemaResponse,
  GetFilterSchemaResponseSchema,
  PropertyValueType,
  type SeenEvent,
  SeenEventSchema,
  type SeenKind,
  SeenKindSchema,
  type SeenProperty,
  type SeenPropertyKey,
  SeenPropertyKeySchema,
  SeenPropertySchema,
} from '../../proto/gen/common/v1/filter_schema_pb.js';
import type { Deadline } from '../deadline.ts';
import { traitPrefix } from '../insights/read/question.ts';
import { readRows, type Statement } from '../read-rows.ts';
import { kindsSql, type NamesAsked, propertiesSql, traitsSql, typeNames } from './seen-names.ts';
import { hasBots, hasCookieless } from './seen-visitors.ts';

const maxNames = 1_000;
/** A thousand names of 255 code points of four bytes. */
const maxCharacters = 2_097_152;

/**
 * The names of traits are those of all profiles, whatever the kind. Throws invalid_argument for a request that breaks a
 * rule, resource_exhausted, and the client's errors.
 */
export async function getFilterSchema(
  { clickhouse }: { clickhouse: RowReader },
  projectId: string,
  request: GetFilterSchemaRequest,
  deadline: Deadline,
): Promise<GetFilterSchemaResponse> {
  const limit = readLimit(request.limit, maxNames, maxNames);
  checkKind(request.eventKind);
  const longest = traitPrefix.length + maxPropertyKeyCodePoints;
  if (hasMoreCodePoints(request.prefix, longest)) {
    throw invalidArgument('prefix', `takes at most ${longest} code points`);
  }
  // One more than are answered says that there are more.
  const asked = {
    ...{ projectId, kind: request.eventKind, prefix: request.prefix, maxRows: limit + 1 },
    types: readTypes(request.allowedTypes),
  };
  const read = (statementOf: (names: NamesAsked) => Statement) =>
    readNames(clickhouse, statementOf(asked), deadline, asked.maxRows);
  const [kindRows, propertyRows, traitRows] = [
    await read(kindsSql),
    await read(propertiesSql),
    await read(traitsSql),
  ];
  const kinds = kindRows.filter(([isCut]) => isCut === 0).map(readKind);
  const properties = [...propertyRows.map(readProperty), ...traitRows.map(readProperty)];
  properties.sort((a, b) => Number(b.count - a.count));
  const listed = { kinds: kinds.slice(0, limit), properties: properties.slice(0, limit) };
  const keysOf = (source: PropertySource): SeenPropertyKey[] =>
    listed.properties.filter((property) => property.source === source).map(keyOf);
  return create(GetFilterSchemaResponseSchema, {
    ...listed,
    events: listed.kinds.map(eventOf),
    autoPropertyKeys: keysOf(PropertySource.AUTO),
    customPropertyKeys: keysOf(PropertySource.CUSTOM),
    profilePropertyKeys: keysOf(PropertySource.PROFILE),
    isCut: kinds.length < kindRows.length || kinds.length > limit || properties.length > limit,
    hasCookieless: await hasCookieless(clickhouse, projectId, deadline),
    hasBots: await hasBots(clickhouse, projectId, deadline),
  });
}

/** Throws invalid_argument beyond `most`; 0 means `usual`. */
export function readLimit(limit: number, usual: number, most: number): number {
  if (limit === 0) return usual;
  if (limit > 0 && limit <= most) return limit;
  throw invalidArgument('limit', `must be from 1 to ${most}`);
}

export function checkKind(kind: string): void {
  if (kind.length > maxKindCharacters) {
    throw invalidArgument('eventKind', `takes at most ${maxKindCharacters} characters`);
  }
}

async function readNames(
  clickhouse: RowReader,
  statement: Statement,
  deadline: Deadline,
  maxRows: number,
): Promise<unknown[][]> {
  const result = await readRows(clickhouse, statement, { deadline, maxRows, maxCharacters });
  if (result.kind === 'rows') return result.rows;
  throw new ConnectError('the names are too many to read: give a kind', Code.ResourceExhausted);
}

function readKind([, kind, count, lastMs]: readonly unknown[]): SeenKind {
  return create(SeenKindSchema, {
    kind: String(kind),
    count: BigInt(String(count)),
    lastSeen: timestampFromMs(Number(lastMs)),
  });
}

/** A row of propertiesSql or of traitsSql, which has no moment. */
function readProperty([name, count, types, lastMs]: readonly unknown[]): SeenProperty {
  const property = String(name);
  const seen = create(SeenPropertySchema, {
    property,
    source: lastMs === undefined ? PropertySource.PROFILE : sourceOf(property),
    count: BigInt(String(count)),
    types: Array.isArray(types) ? types.map(typeOf) : [],
  });
  if (lastMs !== undefined) seen.lastSeen = timestampFromMs(Number(lastMs));
  return seen;
}

function sourceOf(property: string): PropertySource {
  return property.startsWith('$') ? PropertySource.AUTO : PropertySource.CUSTOM;
}

function typeOf(name: unknown): PropertyValueType {
  return typeNames[String(name)] ?? PropertyValueType.UNSPECIFIED;
}

/** The names of types in the rows. Throws invalid_argument for one that no value has. */
function readTypes(types: readonly PropertyValueType[]): string[] {
  return types.map((type, index) => {
    const found = Object.entries(typeNames).find(([, named]) => named === type);
    if (found !== undefined) return found[0];
    throw invalidArgument(`allowedTypes[${index}]`, `${Number(type)} is not a type`);
  });
}

function eventOf({ kind, count, lastSeen }: SeenKind): SeenEvent {
  return create(SeenEventSchema, {
    ...{ name: kind, count },
    ...(lastSeen !== undefined && { lastSeenAt: lastSeen }),
  });
}

function keyOf({ property, source, count, types, lastSeen }: SeenProperty): SeenPropertyKey {
  return create(SeenPropertyKeySchema, {
    name: source === PropertySource.PROFILE ? property.slice(traitPrefix.length) : property,
    ...{ count, valueType: types[0] ?? PropertyValueType.UNSPECIFIED },
    ...(lastSeen !== undefined && { lastSeenAt: lastSeen }),
  });
}
