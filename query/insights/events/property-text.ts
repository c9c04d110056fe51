// SQL for the value of a property as a group of a result: '=' and its canonical text, or '' where it is absent, so that
// a lacking value comes first and no text is taken for one.

import type { Bindings } from '../../filters/bindings.ts';
import { doubleTextSql, timeTextSql } from '../../filters/canonical-text.ts';
import { traitJsonSql } from '../../filters/profile-condition.ts';
import { placeOf } from '../../filters/property-condition.ts';

/** SQL over columns of `events`. */
export function propertyTextSql(property: string, bindings: Bindings): string {
  const place = placeOf(property, bindings);
  const bool = `if(${place.value('bool_properties')}, 'true', 'false')`;
  const branches = [
    ...(place.column === undefined ? [] : [[`${place.column} != ''`, `toString(${place.column})`]]),
    [place.has('string_properties'), place.value('string_properties')],
    [place.has('int_properties'), `toString(${place.value('int_properties')})`],
    [place.has('double_properties'), doubleTextSql(place.value('double_properties'))],
    [place.has('bool_properties'), bool],
    [place.has('time_properties'), timeTextSql(place.value('time_properties'))],
  ].map(([has, text]) => `${has}, concat('=', ${text})`);
  return `multiIf(${branches.join(', ')}, '')`;
}

/** SQL over the column `traits` of `profiles`. */
export function traitTextSql(trait: string, bindings: Bindings): string {
  const json = traitJsonSql(trait, bindings).sql;
  return `multiIf(${json} IN ('', 'null'), '', startsWith(${json}, '"'), concat('=', JSONExtractString(${json})), concat('=', ${json}))`;
}

/** The text of a group's value; undefined where the property is absent. */
export function groupText(value: unknown): string | undefined {
  const text = String(value);
  return text === '' ? undefined : text.slice(1);
}
