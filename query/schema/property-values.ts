// GetPropertyValues of InsightsService and ActivityService: the values of one property with their counts, the most
// frequent first, for pickers. The statements are value-counts.ts's, names of properties filter-schema.ts's.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { type Clock, dayMs } from '../../platform/clock.ts';
import { invalidArgument, notKnown } from '../../platform/http/answers/invalid-argument.ts';
import { hasMoreCodePoints, maxPropertyKeyCodePoints } from '../../platform/limits.ts';
import { PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type GetPropertyValuesRequest,
  type GetPropertyValuesResponse,
  GetPropertyValuesResponseSchema,
  PropertyCountSchema,
} from '../../proto/gen/common/v1/filter_schema_pb.js';
import type { Deadline } from '../deadline.ts';
import { storedTypes } from '../insights/read/property-types.ts';
import { traitPrefix } from '../insights/read/question.ts';
import { momentMs } from '../moment.ts';
import { readRows, type Statement } from '../read-rows.ts';
import { checkKind, readLimit } from './filter-schema.ts';
import { eventValuesSql, placesSql, traitValuesSql } from './value-counts.ts';

const usualValues = 20;
const maxValues = 100;
const usualDays = 30;
const maxDays = 90;
/** As many as a searched part of a text has: see maxSearchedCodePoints in filter-bounds.ts. */
const maxPrefixCodePoints = 256;
/** 128 values of 64 KiB, the longest of a trait; as JSON escapes them, such a value may be six times as long. */
const maxCharacters = 8_388_608;

/** Throws invalid_argument for a request that breaks a rule, resource_exhausted, and the client's errors. */
export async function getPropertyValues(
  { clickhouse, clock }: { clickhouse: RowReader; clock: Clock },
  projectId: string,
  request: GetPropertyValuesRequest,
  deadline: Deadline,
): Promise<GetPropertyValuesResponse> {
  const { eventKind: kind, prefix } = request;
  const limit = readLimit(request.limit, usualValues, maxValues);
  // One more than are answered says that there are more.
  const maxRows = limit + 1;
  const { isTrait, name } = readProperty(request);
  const range = readRange(request, clock.nowMs());
  const read = (statement: Statement, most: number) =>
    readCounts(clickhouse, statement, deadline, most);
  const asked = { projectId, prefix, maxRows };
  if (isTrait) {
    return answer(await read(traitValuesSql({ ...asked, name }), maxRows), limit);
  }
  const { rows } = await read(placesSql(projectId, name, kind), storedTypes.length + 1);
  const types = new Set(rows.map(([type]) => type));
  // Where names are missing from the table, the property may be anywhere.
  const places = storedTypes.filter((place) => types.has(place) || types.has('cut'));
  if (places.length === 0) return create(GetPropertyValuesResponseSchema);
  const statement = eventValuesSql({ ...asked, property: name, kind, ...range, places });
  return answer(await read(statement, maxRows), limit);
}

/** Checks all texts of the request. */
function readProperty(request: GetPropertyValuesRequest): { isTrait: boolean; name: string } {
  const { propertyKey: key, source, eventKind, prefix } = request;
  if (key === '') throw invalidArgument('propertyKey', 'must be given');
  const isPrefixed = source === PropertySource.UNSPECIFIED && key.startsWith(traitPrefix);
  const longest = maxPropertyKeyCodePoints + (isPrefixed ? traitPrefix.length : 0);
  if (hasMoreCodePoints(key, longest)) {
    throw invalidArgument('propertyKey', `takes at most ${longest} code points`);
  }
  const isTrait = isPrefixed || source === PropertySource.PROFILE;
  if (isTrait && eventKind !== '') throw invalidArgument('eventKind', 'must be empty for a trait');
  checkKind(eventKind);
  if (hasMoreCodePoints(prefix, maxPrefixCodePoints)) {
    throw invalidArgument('prefix', `takes at most ${maxPrefixCodePoints} code points`);
  }
  const name = isPrefixed ? key.slice(traitPrefix.length) : checkedKey(key, source);
  return { isTrait, name };
}

function checkedKey(key: string, source: PropertySource): string {
  switch (source) {
    case PropertySource.UNSPECIFIED:
    case PropertySource.PROFILE:
      return key;
    case PropertySource.AUTO:
      if (key.startsWith('$')) return key;
      throw invalidArgument('propertyKey', 'an auto property starts with $');
    case PropertySource.CUSTOM:
      if (!key.startsWith('$')) return key;
      throw invalidArgument('propertyKey', 'a custom property does not start with $');
    default:
      throw notKnown('source', source, 'is not a source');
  }
}

function readRange(
  { timeRange }: GetPropertyValuesRequest,
  nowMs: number,
): { fromMs: number; toMs: number } {
  const toMs = momentMs('timeRange.to', timeRange?.to) ?? nowMs;
  const fromMs = momentMs('timeRange.from', timeRange?.from) ?? toMs - usualDays * dayMs;
  if (fromMs > toMs) throw invalidArgument('timeRange', 'from must not be after to');
  if (toMs - fromMs > maxDays * dayMs) {
    throw invalidArgument('timeRange', `takes at most ${maxDays} days`);
  }
  return { fromMs, toMs };
}

interface Counts {
  rows: readonly unknown[][];
  /** The rows take all characters that there are. */
  stopped: boolean;
}

async function readCounts(
  clickhouse: RowReader,
  statement: Statement,
  deadline: Deadline,
  maxRows: number,
): Promise<Counts> {
  const result = await readRows(clickhouse, statement, { deadline, maxRows, maxCharacters });
  if (result.kind === 'rows') return result;
  const narrower = 'the values are too many to count: ask for a shorter time or one kind';
  throw new ConnectError(narrower, Code.ResourceExhausted);
}

function answer({ rows, stopped }: Counts, limit: number): GetPropertyValuesResponse {
  const counts = rows
    .slice(0, limit)
    .map(([value, count]) =>
      create(PropertyCountSchema, { value: String(value), count: BigInt(String(count)) }),
    );
  return create(GetPropertyValuesResponseSchema, {
    values: counts.map(({ value }) => value ?? ''),
    counts,
    isCut: stopped || rows.length > limit,
  });
}
