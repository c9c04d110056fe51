// Reads a stored profile, its record and the totals of its events: the columns, and the message made of them. Which
// profiles are read is the methods' own.

import { create, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type Profile,
  type ProfileActivitySummary,
  ProfileActivitySummarySchema,
  ProfileSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { cutLevels } from '../identity/cut-levels.ts';
import type { JsonStandIns } from '../json-codec.ts';

/** A stored profile; for an anonymous one, made from its events. */
export interface StoredProfile {
  /** 32 hex digits. */
  id: string;
  /** Empty for an anonymous profile. */
  externalId: string;
  traitKeys: readonly string[];
  /** JSON texts. */
  traitValues: readonly string[];
  createTimeMs: number;
  updateTimeMs: number;
}

export interface StoredActivity {
  firstReceivedMs: number;
  summary: ProfileActivitySummary;
}

/** SQL for the texts of the latest `agent` or `place` among rows; the column's first bytes are its moment. */
export function latestSql(column: string): string {
  return `splitByChar(char(255), substring(max(${column}), 25))`;
}

// Sums, as the view keeps one row for each insert until the engine merges them.
export const activitySql = `
  toUnixTimestamp64Milli(min(first_received)),
  toUnixTimestamp64Milli(min(first_seen)),
  toUnixTimestamp64Milli(max(last_seen)),
  sum(total_events),
  sum(pageviews),
  uniqExactMerge(sessions),
  ${latestSql('agent')},
  ${latestSql('place')}`;

/**
 * Settings for reads of a few profiles by id. A granule's rows are read in one pass and one thread: a second pass, or
 * threads to read and format, cost more than they save. Planning is most of such a read, and the older analyzer plans a
 * fifth faster; it also makes a set of an IN array of a hundred thousand ids, which the newer one compares with each
 * row.
 */
export const fewRows = `SETTINGS max_threads = 1, optimize_move_to_prewhere = 0, enable_analyzer = 0,
  output_format_parallel_formatting = 0`;

/** SQL for the record of the id `id` among rows of profile_activity; '' if the id was never named or deleted. */
export function recordSql(id: string): string {
  return withoutVersion(`maxIf(record, profile_id = ${id})`);
}

/** SQL for the record in a row of `profiles`. */
export const rowRecordSql = withoutVersion(
  'millraceProfileRecord(version, root_id, named, deleted, create_time, update_time, distinct_id, traits)',
);

function withoutVersion(record: string): string {
  return `substring(${record}, 9)`;
}

/** The state of an id after all identity calls. */
export interface IdentityRecord {
  /** The root that the id is merged into, in hex; zeros if it is not merged. */
  rootId: string;
  /** True if an Identify or Alias had the id as its externalId. */
  named: boolean;
  deleted: boolean;
  stored: StoredProfile;
}

/** Takes an id in hex and its record of the SQL above; undefined for ''. Throws if the text is no record. */
export function readRecord(id: string, text: unknown): IdentityRecord | undefined {
  if (text === '') return undefined;
  const lists: unknown[] = JSON.parse(String(text));
  const [own, traitKeys, traitValues] = lists;
  const [rootId = '', named, deleted, created, updated, externalId = ''] = texts(own);
  return {
    rootId,
    named: named === '1',
    deleted: deleted === '1',
    stored: {
      id,
      externalId,
      traitKeys: texts(traitKeys),
      traitValues: texts(traitValues),
      createTimeMs: Number(created),
      updateTimeMs: Number(updated),
    },
  };
}

/** Takes a row of: id in hex, creation and update in ms, externalId, keys and values of traits. */
export function readProfile(row: readonly unknown[]): StoredProfile {
  const [id, created, updated, externalId, keys, values] = row;
  return {
    id: String(id),
    externalId: String(externalId),
    traitKeys: texts(keys),
    traitValues: texts(values),
    createTimeMs: Number(int64(created)),
    updateTimeMs: Number(int64(updated)),
  };
}

/** Takes the columns of `activitySql`; undefined if there are no events. */
export function readActivity(row: readonly unknown[]): StoredActivity | undefined {
  const [received, firstSeen, lastSeen, totalEvents, pageviews, sessions, agent, place] = row;
  const total = int64(totalEvents);
  if (total === 0n) return undefined;
  const [browser, browserVersion, os, osVersion, device] = texts(agent);
  const [country, region, city] = texts(place);
  return {
    firstReceivedMs: Number(int64(received)),
    summary: create(ProfileActivitySummarySchema, {
      firstSeen: timestampFromMs(Number(int64(firstSeen))),
      lastSeen: timestampFromMs(Number(int64(lastSeen))),
      totalEvents: total,
      pageviews: int64(pageviews),
      sessions: int64(sessions),
      browser: browser ?? '',
      browserVersion: browserVersion ?? '',
      os: os ?? '',
      osVersion: osVersion ?? '',
      device: device ?? '',
      country: country ?? '',
      region: region ?? '',
      city: city ?? '',
    }),
  };
}

/** `standIns` belong to an answer in JSON, and are absent in binary. */
export function profileMessage(
  projectId: string,
  stored: StoredProfile,
  activity: StoredActivity | undefined,
  standIns: JsonStandIns | undefined,
): Profile {
  const { id, externalId, createTimeMs, updateTimeMs } = stored;
  return create(ProfileSchema, {
    id,
    externalId,
    properties: traitsMessage(stored, standIns),
    projectId,
    createTime: timestampFromMs(createTimeMs),
    updateTime: timestampFromMs(updateTimeMs),
    activity:
      activity?.summary ??
      create(ProfileActivitySummarySchema, { totalEvents: 0n, pageviews: 0n, sessions: 0n }),
  });
}

/** The traits of a profile, which readers of any depth can read; `standIns` as for profileMessage. */
export function traitsMessage(
  { traitKeys, traitValues }: Pick<StoredProfile, 'traitKeys' | 'traitValues'>,
  standIns: Pick<JsonStandIns, 'protoKey'> | undefined,
): JsonObject {
  const properties: JsonObject = {};
  for (const [index, key] of traitKeys.entries()) {
    const value: JsonValue = JSON.parse(cutLevels(traitValues[index] ?? 'null'));
    const name = key === '__proto__' && standIns !== undefined ? standIns.protoKey : key;
    // Assigning to __proto__ would set the prototype.
    Object.defineProperty(properties, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return properties;
}

function int64(value: unknown): bigint {
  if (typeof value === 'string') return BigInt(value);
  throw new Error(`the engine answered a ${typeof value} for an integer`);
}

function texts(value: unknown): string[] {
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
  throw new Error(`the engine answered a ${typeof value} for texts`);
}
