// What the text of a statement depends on besides its question, as far as planning asks: whether the project ever
// deleted a profile, because most have not; and with which types properties were ever stored (property_keys), so that
// they are looked for in one map instead of five and a column. Read after the moment until which the answer is
// complete: an event is acknowledged once its types are in the table, and one that comes between is not claimed to be
// counted.

import type { PlanNotes } from './plan-notes.ts';
import { textsOf } from './rows.ts';

/** `column`: a non-empty text of a property that has a column. The others are the maps. */
export const storedTypes = ['column', 'string', 'int', 'double', 'bool', 'time'] as const;
export type StoredType = (typeof storedTypes)[number];
export type PropertyTypes = ReadonlySet<StoredType>;

/** Whether a property that has a column never had other values. */
export function isOfColumn(types: PropertyTypes | undefined): boolean {
  return types !== undefined && [...types].every((type) => type === 'column');
}

export interface Facts {
  /** The types of each name, none of one that was never stored; undefined where the table has not every name. */
  types: ReadonlyMap<string, PropertyTypes> | undefined;
  hasDeletions: boolean;
}

/** Of a question about which nobody knows anything. */
export const noFacts: Facts = { types: undefined, hasDeletions: true };

/** Whether planning would have liked to know something. */
export function asksFacts({ properties, asksDeletions }: PlanNotes): boolean {
  return properties.size > 0 || asksDeletions;
}

const typesPart = 'types';
export const changesPart = 'changes';
/** Of all types that a question asks for; beyond it nobody knows anything. */
export const maxTypesCharacters = 1_048_576;
/** Rows of a part, a text and texts. Of the parameters `project` and `properties`. */
export const typesSql = `SELECT '${typesPart}' AS part, toString(property) AS name, groupUniqArray(toString(type)) AS found FROM property_keys
  WHERE project_id = {project:String} AND (type = 'cut' OR property IN {properties:Array(String)})
  GROUP BY name`;
/** Of the parts of types and changes, the second of whose texts counts deletions. */
export function factsIn(rows: readonly unknown[][], properties: Iterable<string>): Facts {
  const types = new Map<string, Set<StoredType>>(
    [...properties].map((property) => [property, new Set()]),
  );
  const facts: Facts = { types, hasDeletions: false };
  for (const [part, name, found] of rows) {
    const texts = textsOf(found);
    if (part === changesPart) facts.hasDeletions = Number(texts[1]) > 0;
    if (part !== typesPart) continue;
    for (const type of texts) {
      const known = storedTypes.find((stored) => stored === type);
      if (known === undefined) facts.types = undefined;
      else types.get(String(name))?.add(known);
    }
  }
  return facts;
}
