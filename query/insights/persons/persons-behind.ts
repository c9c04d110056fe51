// The persons behind a number of an answer, one page a call: found by the statement of the number's own question
// (question-point.ts), in the order of their keys, and named by their profiles and events.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { TopKProfileSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../../deadline.ts';
import { traitsMessage } from '../../profiles/stored-profile.ts';
import { planOf } from '../forms/forms.ts';
import { onlyPart } from '../forms/grouped-rows.ts';
import { readProfiles, storedProfiles } from '../forms/top/user-profiles.ts';
import type { Behind, Question } from '../read/question.ts';
import { textsOf } from '../read/rows.ts';
import { rangeOfReads, readStoredVersion } from '../run/stored-version.ts';
import { tooMuchWork } from '../run/work-bound.ts';
import { keyDigits } from '../sql/persons.ts';
import { groupText } from '../sql/property-text.ts';
import { idsOf, type ReadRows } from './person-ids.ts';

export interface Person {
  /** In hex. */
  key: string;
  distinctId: string;
  profile: MessageInitShape<typeof TopKProfileSchema>;
}

/**
 * Of so many events a page of persons is looked for in a part of all keys first: others are then neither grouped nor
 * looked up. A number that counts few has the other parts looked through afterwards, at some 1.3 times the cost.
 */
const manyEvents = 200_000;
const partsOfKeys = 16;

/** Where a request has the number's question. */
const parent = 'point.';

/**
 * Keys in hex, ascending; at most `behind.maxPersons` of the question. Throws resource_exhausted for a question that
 * would be refused itself.
 */
export async function keysBehind(
  asked: Question,
  clickhouse: RowReader,
  deadline: Deadline,
  read: ReadRows,
): Promise<string[]> {
  const { projectId, behind } = asked;
  if (behind === undefined) throw new Error('the question asks for no persons');
  const { notes } = planOf(asked).question;
  const range = rangeOfReads(notes.reads);
  const asks = [...notes.properties];
  const { events, facts } = await readStoredVersion(clickhouse, projectId, range, deadline, asks);
  const refusal = tooMuchWork(asked, events, parent);
  if (refusal !== undefined) throw refusal;
  const keysOf = async (page: Behind): Promise<string[]> => {
    const { sql, question } = planOf({ ...asked, behind: page }, facts);
    const rows = await read({ sql, params: question.bindings.params }, page.maxPersons);
    return rows
      .filter(([part]) => Number(part) === onlyPart)
      .map(([, , values]) => groupText(textsOf(values).at(-1)) ?? '')
      .sort();
  };
  const untilKey = events < manyEvents ? undefined : keyFrom(behind.afterKey);
  const first = await keysOf({ ...behind, untilKey });
  const lacking = behind.maxPersons - first.length;
  if (untilKey === undefined || lacking === 0) return first;
  return [...first, ...(await keysOf({ ...behind, afterKey: untilKey, maxPersons: lacking }))];
}

/** The last key of the part of all keys after this one; undefined where that ends with the last of all. */
function keyFrom(afterKey: string): string | undefined {
  const last = BigInt(`0x${afterKey}`) + 16n ** BigInt(keyDigits) / BigInt(partsOfKeys);
  const text = last.toString(16).padStart(keyDigits, '0');
  return text.length > keyDigits ? undefined : text;
}

/** In the order of the keys. One whose profile is still on its way has no id of it. */
export async function personsOf(
  question: Question,
  keys: readonly string[],
  read: ReadRows,
): Promise<Person[]> {
  const bindings = question.bindings.fork();
  const stored = storedProfiles({ ...question, bindings }, keys);
  if (stored === undefined) return [];
  const rows = await read({ sql: stored.sql, params: bindings.params }, stored.maxRows);
  const profiles = readProfiles(rows);
  const isNamed = (key: string): boolean => Boolean(profiles.get(key)?.record?.externalId);
  const ids = await idsOf(
    question,
    keys.filter((key) => !isNamed(key)),
    read,
  );
  return keys.map((key) => {
    const { id = '', record } = profiles.get(key) ?? {};
    const { externalId = '' } = record ?? {};
    const properties = record && traitsMessage(record, question.standIns);
    return {
      ...{ key, distinctId: externalId || (ids.get(key) ?? '') },
      profile: { id, externalId, ...(properties && { properties }) },
    };
  });
}
