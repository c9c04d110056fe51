// The rules of the kinds that an EventFilter names: one, or any of several.

import type { EventFilter } from '../../proto/gen/common/v1/filter_pb.js';
import { invalidArgument } from '../http/answers/invalid-argument.ts';
import { maxKindCharacters } from '../limits.ts';

const maxKinds = 20;

/** Throws invalid_argument below `path` for too many kinds, one that no event can have, and both members at once. */
export function checkEventKinds(
  { kind, kinds }: Pick<EventFilter, 'kind' | 'kinds'>,
  path: string,
): void {
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
