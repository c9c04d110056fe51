// The kinds that an EventFilter names: one, or any of several.

import type { EventFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { Bindings } from './bindings.ts';

type Kinds = Pick<EventFilter, 'kind' | 'kinds'>;

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
