// SQL for the value of a property as a group of a result, and the reading of it: '=' and the canonical text; '<' for an
// empty text; '' or '=' where the property is absent. So a lacking value comes first, then an empty one, and a column
// needs no look at each row's text: '=' is put in front of its few different texts.

import type { Bindings } from '../../filters/bindings.ts';
import { doubleTextSql, timeTextSql } from '../../filters/canonical-text.ts';
import { traitJsonSql } from '../../filters/profile-condition.ts';
import { placeOf } from '../../filters/property-condition.ts';
import { isOfColumn, type PropertyTypes, type StoredType } from '../read/property-types.ts';

/** SQL over columns of `events`. `types` are those that the property was ever stored with; all where unknown. */
export function propertyTextSql(
  property: string,
  bindings: Bindings,
  types: PropertyTypes | undefined,
): string {
  const place = placeOf(property, bindings);
  const { column } = place;
  const has = (type: StoredType): boolean => types === undefined || types.has(type);
  if (column !== undefined && isOfColumn(types)) return `concat('=', ${column})`;
  const branches: string[] = [];
  const add = (condition: string, text: string): void => {
    branches.push(`${condition}, concat('=', ${text})`);
  };
  if (column !== undefined && has('column')) add(`${column} != ''`, `toString(${column})`);
  if (has('string')) {
    const text = place.value('string_properties');
    add(`${text} != ''`, text);
    branches.push(`${place.has('string_properties')}, '<'`);
  }
  if (has('int')) add(place.has('int_properties'), `toString(${place.value('int_properties')})`);
  if (has('double')) {
    add(place.has('double_properties'), doubleTextSql(place.value('double_properties')));
  }
  if (has('bool')) {
    add(place.has('bool_properties'), `if(${place.value('bool_properties')}, 'true', 'false')`);
  }
  if (has('time')) add(place.has('time_properties'), timeTextSql(place.value('time_properties')));
  return branches.length === 0 ? "''" : `multiIf(${branches.join(', ')}, '')`;
}

/** SQL over the column `traits` of `profiles`. */
export function traitTextSql(trait: string, bindings: Bindings): string {
  const json = traitJsonSql(trait, bindings).sql;
  return `multiIf(${json} IN ('', 'null'), '', ${json} = '""', '<', startsWith(${json}, '"'), concat('=', JSONExtractString(${json})), concat('=', ${json}))`;
}

/** The text of a group's value; undefined where the property is absent. */
export function groupText(value: unknown): string | undefined {
  const text = String(value);
  if (text === '<') return '';
  return text === '' || text === '=' ? undefined : text.slice(1);
}
