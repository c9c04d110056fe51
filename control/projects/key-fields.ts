// The rules of a new API key's fields: its kind, its scope and its end.

import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { ApiKeyKind } from '../../platform/access/ids.ts';
import type { KeyScope } from '../../platform/access/projects.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  ApiKeyKind as KindValue,
  ApiKeyScope as ScopeValue,
} from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { invalidArgument, momentField } from '../request-fields.ts';

export function kindField(field: string, value: KindValue): ApiKeyKind {
  switch (value) {
    case KindValue.PUBLIC:
      return 'public';
    case KindValue.PRIVATE:
      return 'private';
    default:
      throw invalidArgument(field, 'must be API_KEY_KIND_PUBLIC or API_KEY_KIND_PRIVATE');
  }
}

/** Undefined for a key that opens all that its kind may. */
export function scopeField(
  field: string,
  value: ScopeValue,
  kind: ApiKeyKind,
): KeyScope | undefined {
  if (value === ScopeValue.UNSPECIFIED || value === ScopeValue.ALL) return undefined;
  if (kind === 'public') throw invalidArgument(field, 'must be absent: a public key only writes');
  return value === ScopeValue.READ ? 'read' : 'write';
}

export function scopeValue(scope: KeyScope | undefined): ScopeValue {
  switch (scope) {
    case undefined:
      return ScopeValue.ALL;
    case 'read':
      return ScopeValue.READ;
    case 'write':
      return ScopeValue.WRITE;
    default:
      return scope satisfies never;
  }
}

/** RFC 3339; undefined for a key without an end. */
export function expireTimeField(
  field: string,
  value: Timestamp | undefined,
  kind: ApiKeyKind,
  clock: Clock,
): string | undefined {
  if (value === undefined) return undefined;
  if (kind === 'public') throw invalidArgument(field, 'must be absent: a public key has no end');
  if (momentField(field, value) <= clock.nowMs())
    throw invalidArgument(field, 'must be later than now');
  return new Date(timestampMs(value)).toISOString();
}
