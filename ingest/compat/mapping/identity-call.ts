// What a request of another vendor's SDK says about persons: traits of one, and that two ids are the same person.
// The rules are those of Identify and Alias, but for the form of an anonymous id, which every SDK makes its own way.

import { isObject, type JsonObject } from '../../../platform/json.ts';
import {
  aliasReader,
  foreignIdentifyReader,
  type ReadChange,
} from '../../validation/identity-rules.ts';
import type { Violation } from '../../validation/violation.ts';
import { idText } from './sent-values.ts';

export interface IdentityCall {
  /** Whom it is about: the id that stays. */
  externalId: unknown;
  /** Becomes the person's; an id that belongs to somebody already stays theirs. */
  anonymousId?: unknown;
  /** Another name of the person, whoever it belonged to. */
  alias?: unknown;
  traits?: unknown;
  /** Of these the person keeps what is there. */
  traitsOnce?: unknown;
}

export interface ReadCall {
  /** At most two: traits and claim, and an alias. */
  changes: ReadChange[];
  /** What was left out. */
  violations: Violation[];
}

/** Never takes more than the two ids allow: traits that break a rule are left out, and the link stays. */
export function readIdentityCall(call: IdentityCall): ReadCall {
  const externalId = idText(call.externalId) ?? '';
  const read: ReadCall = { changes: [], violations: [] };
  const anonymousId = otherThan(externalId, call.anonymousId);
  const alias = otherThan(externalId, call.alias);
  const traits = isObject(call.traits) ? withoutNulls(call.traits) : {};
  const traitsOnce = isObject(call.traitsOnce) ? withoutNulls(call.traitsOnce) : {};
  const hasTraits = Object.keys(traits).length + Object.keys(traitsOnce).length > 0;
  // An alias of a person to themselves, which Segment's browser SDK sends, says nothing.
  if (hasTraits || anonymousId !== '' || call.alias === undefined) {
    addIdentify({ externalId, anonymousId, traits, traitsOnce }, read);
  }
  if (alias !== '') add(aliasReader.readFields({ previousId: alias, externalId }), read);
  return read;
}

function addIdentify(
  fields: { externalId: string; anonymousId: string; traits: JsonObject; traitsOnce: JsonObject },
  read: ReadCall,
): void {
  const whole = foreignIdentifyReader.readFields(fields);
  add(whole, read);
  if (whole.kind === 'valid' || !whole.violation.field.startsWith('traits')) return;
  const link = foreignIdentifyReader.readFields({ ...fields, traits: {}, traitsOnce: {} });
  if (link.kind === 'valid') read.changes.push(link);
}

function add(change: ReadChange, { changes, violations }: ReadCall): void {
  if (change.kind === 'valid') changes.push(change);
  else violations.push(change.violation);
}

/** The id's text; empty where it is none, or the person's own. */
function otherThan(externalId: string, id: unknown): string {
  const text = idText(id) ?? '';
  return text === externalId ? '' : text;
}

function withoutNulls(traits: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(traits).filter(([, value]) => value !== null && value !== undefined),
  );
}
