// Reads Identify and Alias requests, checks them against their rules and makes the change that is queued. JSON bodies,
// binary bodies and messages that the Connect router decoded go through the same checks. The pipeline applies changes.

import type { DescMessage } from '@bufbuild/protobuf';
import { isObject, type JsonObject } from '../../platform/json.ts';
import {
  hasMoreCodePoints,
  maxAnonymousIdCodePoints,
  maxDeviceIdCharacters,
  maxDistinctIdCodePoints,
  maxTraitLevels,
  maxTraits,
  maxTraitsBytes,
} from '../../platform/limits.ts';
import {
  AliasRequestSchema,
  IdentifyRequestSchema,
} from '../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { isPlaceholder } from '../../proto/wire/placeholder-ids.ts';
import type { ProfileChange, Trait } from '../../proto/wire/profile-change.ts';
import type { Rule } from '../../proto/wire/rules.ts';
import { propertyPath } from '../../proto/wire/violation-path.ts';
import { parseKnownJson } from './text/known-json.ts';
import { type Known, knownMembers } from './text/known-members.ts';
import { decodeBinary, invalidBody } from './text/reference-body.ts';
import { isUuid } from './text/uuid.ts';
import type { Violation } from './violation.ts';

export type ReadChange =
  | { kind: 'invalid'; violation: Violation }
  | { kind: 'valid'; change: ProfileChange };

/** Reads the requests of one method, in each form that they come in. */
export interface ChangeReader {
  readJson(body: Buffer): ReadChange;
  readBinary(body: Buffer): ReadChange;
  /** `fields` is a decoded message, or a JSON object with camelCase names. */
  readFields(fields: JsonObject): ReadChange;
}

/** The caller's address, which is written nowhere. */
const addressKey = '$ip';

const identify = IdentifyRequestSchema;
const knownIdentify = knownMembers(identify);
const alias = AliasRequestSchema;
const knownAlias = knownMembers(alias);

export const identifyReader: ChangeReader = {
  readJson: (body) =>
    readJsonFields(body, identify, knownIdentify, (fields) => readIdentify(fields)),
  readBinary: (body) => readBinaryFields(body, identify, (fields) => readIdentify(fields)),
  readFields: (fields) => readIdentify(fields),
};

/** Identify of another vendor's SDK, whose anonymous ids have any form. */
export const foreignIdentifyReader: Pick<ChangeReader, 'readFields'> = {
  readFields: (fields) => readIdentify(fields, checkForeignId),
};

export const aliasReader: ChangeReader = {
  readJson: (body) => readJsonFields(body, alias, knownAlias, readAlias),
  readBinary: (body) => readBinaryFields(body, alias, readAlias),
  readFields: readAlias,
};

function readJsonFields(
  body: Buffer,
  message: DescMessage,
  known: Known,
  read: (fields: JsonObject) => ReadChange,
): ReadChange {
  const parsed = parseKnownJson(body, known);
  if (parsed.kind === 'invalid') return parsed;
  if (!isObject(parsed.value)) return invalidBody('body_object');
  const fields: Record<string, unknown> = {};
  for (const { name, jsonName } of message.fields) {
    const [given, second] = [parsed.value[jsonName], parsed.value[name]];
    if (name !== jsonName && given !== undefined && second !== undefined) {
      return invalid(jsonName, 'member_spelling');
    }
    fields[jsonName] = given ?? second;
  }
  return read(fields);
}

function readBinaryFields(
  body: Buffer,
  message: DescMessage,
  read: (fields: JsonObject) => ReadChange,
): ReadChange {
  const decoded = decodeBinary(message, body);
  return decoded.kind === 'invalid' ? decoded : read({ ...decoded.message });
}

function readIdentify(
  fields: JsonObject,
  checkAnonymous: typeof checkAnonymousId = checkAnonymousId,
): ReadChange {
  const externalId = fields['externalId'] ?? '';
  const anonymousId = fields['anonymousId'] ?? '';
  const deviceId = fields['deviceId'] ?? '';
  if (typeof externalId !== 'string') return invalid('externalId', 'must_be_string');
  if (typeof anonymousId !== 'string') return invalid('anonymousId', 'must_be_string');
  if (typeof deviceId !== 'string') return invalid('deviceId', 'must_be_string');
  const broken =
    checkId('externalId', externalId) ??
    (anonymousId === '' ? undefined : checkMerged('externalId', externalId)) ??
    checkAnonymous(anonymousId) ??
    checkDeviceId(deviceId) ??
    checkTraits('traits', fields['traits']) ??
    checkTraits('traitsOnce', fields['traitsOnce']);
  if (broken !== undefined) return broken;
  const traits = traitsOf(fields['traits']);
  const traitsOnce = traitsOf(fields['traitsOnce']);
  if (textBytes([...traits, ...traitsOnce]) > maxTraitsBytes) {
    return invalid('traits', 'traits_size');
  }
  const change = { kind: 'identify' as const, externalId, anonymousId, deviceId, traits };
  return {
    kind: 'valid',
    change: traitsOnce.length === 0 ? change : { ...change, traitsOnce },
  };
}

function readAlias(fields: JsonObject): ReadChange {
  const previousId = fields['previousId'] ?? '';
  const externalId = fields['externalId'] ?? '';
  if (typeof previousId !== 'string') return invalid('previousId', 'must_be_string');
  if (typeof externalId !== 'string') return invalid('externalId', 'must_be_string');
  const broken =
    checkId('previousId', previousId) ??
    checkMerged('previousId', previousId) ??
    checkId('externalId', externalId) ??
    checkMerged('externalId', externalId);
  return broken ?? { kind: 'valid', change: { kind: 'alias', previousId, externalId } };
}

type Invalid = ReadChange & { kind: 'invalid' };

function checkId(field: string, id: string): Invalid | undefined {
  if (id === '') return invalid(field, 'required');
  if (id.startsWith('cookieless-')) return invalid(field, 'distinct_id_prefix');
  return hasMoreCodePoints(id, maxDistinctIdCodePoints)
    ? invalid(field, 'distinct_id_length')
    : undefined;
}

/** An id whose profile is to take another's events, or to give its own. */
function checkMerged(field: string, id: string): Invalid | undefined {
  return isPlaceholder(id) ? invalid(field, 'id_placeholder') : undefined;
}

function checkAnonymousId(id: string): Invalid | undefined {
  if (id !== '' && !id.startsWith('anon-')) return invalid('anonymousId', 'anonymous_id_prefix');
  if (!hasMoreCodePoints(id, maxAnonymousIdCodePoints)) return undefined;
  return invalid('anonymousId', 'anonymous_id_length');
}

/** Everybody's placeholder would be claimed by whoever comes first. */
function checkForeignId(id: string): Invalid | undefined {
  if (id === '') return undefined;
  return checkId('anonymousId', id) ?? checkMerged('anonymousId', id);
}

function checkDeviceId(id: string): Invalid | undefined {
  if (hasMoreCodePoints(id, maxDeviceIdCharacters)) return invalid('deviceId', 'device_id_length');
  return id === '' || isUuid(id) ? undefined : invalid('deviceId', 'uuid');
}

function checkTraits(field: string, traits: unknown): Invalid | undefined {
  if (traits === undefined || traits === null) return undefined;
  if (!isObject(traits)) return invalid(field, 'traits_object');
  const entries = Object.entries(traits);
  if (entries.length > maxTraits) return invalid(field, 'traits_count');
  for (const [key, value] of entries) {
    const rule = valueRule(value, 0);
    if (rule !== undefined) return invalid(propertyPath(field, key), rule);
  }
  return undefined;
}

/**
 * The rule that `value` breaks, inside so many objects and lists of its trait. JSON.parse reads 1e999 as infinity, and
 * a binary double may be infinite or NaN. A whole number beyond 2^53 may have been another before it was read, and
 * nobody can tell any more.
 */
function valueRule(value: unknown, levels: number): Rule | undefined {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'trait_number';
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? 'int64_number' : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === maxTraitLevels) return 'trait_levels';
  for (const inner of Object.values(value)) {
    const rule = valueRule(inner, levels + 1);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

function traitsOf(traits: unknown): Trait[] {
  if (!isObject(traits)) return [];
  return Object.entries(traits)
    .filter(([key]) => key !== addressKey)
    .map(([key, value]) => [key, JSON.stringify(value, withoutAddress)]);
}

/** For JSON.stringify: an object loses its address, however deep it is. */
function withoutAddress(key: string, value: unknown): unknown {
  return key === addressKey ? undefined : value;
}

/** The length of the object's JSON text, in bytes of UTF-8. */
function textBytes(traits: readonly Trait[]): number {
  let bytes = 2 + Math.max(0, traits.length - 1);
  for (const [key, json] of traits) {
    bytes += Buffer.byteLength(JSON.stringify(key)) + 1 + Buffer.byteLength(json);
  }
  return bytes;
}

function invalid(field: string, rule: Rule): Invalid {
  return { kind: 'invalid', violation: { index: -1, field, rule } };
}
