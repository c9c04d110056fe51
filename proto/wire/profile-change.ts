// One change to the profiles of a project: the body of one request in a frame of a profiles stream. Ingest, deletions,
// the operator's commands and starts of the writer of profiles write changes; that writer reads them. Applies none.

/** A trait's key and its value as JSON text. */
export type Trait = readonly [key: string, json: string];

/** Names a user, sets traits, and claims `anonymousId` where it is not empty. */
export interface IdentifyChange {
  kind: 'identify';
  externalId: string;
  /** Empty where there is none. */
  anonymousId: string;
  /** Empty where there is none. */
  deviceId: string;
  traits: readonly Trait[];
  /** Set after `traits`, and only where the profile has none of the key. Absent where there are none. */
  traitsOnce?: readonly Trait[];
}

/** Merges the profile that `previousId` belongs to into the profile of `externalId`. */
export interface AliasChange {
  kind: 'alias';
  previousId: string;
  externalId: string;
}

/** Hides the profile that `distinctId` belongs to. */
export interface DeleteChange {
  kind: 'delete';
  distinctId: string;
}

/** Takes back the claim on `distinctId`. */
export interface UnmergeChange {
  kind: 'unmerge';
  distinctId: string;
}

/** Takes back the claim on `distinctId` where that was deleted before: older versions let such ids be claimed. */
export interface SeparateChange {
  kind: 'separate';
  distinctId: string;
}

/** Has the writer forget all records that it holds: rows of them were erased from the table (erasure/). */
export interface ForgetChange {
  kind: 'forget';
}

export type ProfileChange =
  | IdentifyChange
  | AliasChange
  | DeleteChange
  | UnmergeChange
  | SeparateChange
  | ForgetChange;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export function encodeChange(change: ProfileChange): Uint8Array {
  return encoder.encode(JSON.stringify(change));
}

/** Throws where the bytes are no change, or where a text in it is not valid Unicode. */
export function decodeChange(bytes: Uint8Array): ProfileChange {
  const text = decoder.decode(bytes);
  const value: unknown = JSON.parse(text);
  if (!isChange(value)) throw new RangeError('profile change: none that this version knows');
  // Only an escape can write half a surrogate pair.
  if (/\\u[dD]/.test(text) && !textsIn(value).every(isUnicode)) {
    throw new RangeError('profile change: texts that are no Unicode');
  }
  return value;
}

function textsIn(value: object): string[] {
  return Object.values(value).flat(2);
}

function isUnicode(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** The ids of each kind, which are never empty. */
const idsOf: Readonly<Record<ProfileChange['kind'], readonly string[]>> = {
  identify: ['externalId'],
  alias: ['previousId', 'externalId'],
  delete: ['distinctId'],
  unmerge: ['distinctId'],
  separate: ['distinctId'],
  forget: [],
};

const textsOf: Readonly<Record<ProfileChange['kind'], readonly string[]>> = {
  identify: ['externalId', 'anonymousId', 'deviceId'],
  alias: ['previousId', 'externalId'],
  delete: ['distinctId'],
  unmerge: ['distinctId'],
  separate: ['distinctId'],
  forget: [],
};

function isChange(value: unknown): value is ProfileChange {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Reflect.get(value, 'kind');
  if (!isKind(kind)) return false;
  if (!textsOf[kind].every((name) => typeof Reflect.get(value, name) === 'string')) return false;
  if (!idsOf[kind].every((name) => Reflect.get(value, name) !== '')) return false;
  if (kind !== 'identify') return true;
  const traits: unknown = Reflect.get(value, 'traits');
  const once: unknown = Reflect.get(value, 'traitsOnce');
  return isTraits(traits) && (once === undefined || isTraits(once));
}

function isTraits(value: unknown): boolean {
  return Array.isArray(value) && value.every(isTrait);
}

function isKind(kind: unknown): kind is ProfileChange['kind'] {
  return typeof kind === 'string' && Object.hasOwn(textsOf, kind);
}

function isTrait(value: unknown): value is Trait {
  return (
    Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === 'string')
  );
}
