// The kinds that an EventFilter names: one, or any of several.

import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { maxKindCharacters } from '../../platform/limits.ts';
import type { EventFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { Bindings } from './bindings.ts';

type Kinds = Pick<EventFilter, 'kind' | 'kinds'>;

const maxKinds = 20;

/** Each once; none where every kind is meant. */
export function kindsOf({ kind, kinds }: Kinds): string[] {
  return [...new Set(kinds.length > 0 ? kinds : kind === '' ? [] : [kind])];
}

/** SQL of a condition on the kind; undefined where every kind is meant. */
export function kindsSql(event: Kinds, bindings: Bindings): string | undefined {
  const [only, ...others] = kindsOf(event);
  if (only === undefined) return undefined;
  return others.length === 0
    ? `kind = ${bindings.bind('String', only)}`
    : `kind IN ${bindings.bind('Array(String)', [only, ...others])}`;
}

/** Throws invalid_argument below `path` for too many kinds, one that no event can have, and both members at once. */
export function checkEventKinds({ kind, kinds }: Kinds, path: string): void {
  if (kinds.length > maxKinds) throw invalidArgument(`${path}.kinds`, `takes at most ${maxKinds}`);
  if (kinds.length > 0 && kind !== '') {
    throw invalidArgument(`${path}.kinds`, 'must be empty where kind is set');
  }
  checkLength(kind, `${path}.kind`);
  for (const [index, one] of kinds.entries()) {
    const field = `${path}.kinds[${index}]`;
    if (one === '') throw invalidArgument(field, 'must not be empty');
    checkLength(one, field);
  }
}

function checkLength(kind: string, field: string): void {
  if (kind.length > maxKindCharacters) {
    throw invalidArgument(field, `takes at most ${maxKindCharacters} characters`);
  }
}
