// The persons behind a number of an answer, one page a call: found by the statement of the number's own question
// (question-point.ts), in the order of their keys, and named by their profiles and events: by the external id that
// Identify set, or of an anonymous one by the id that the sender gave, which only its events have.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { maxQuestionMs, minQuestionMs } from '../../../platform/limits.ts';
import type { TopKProfileSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../../deadline.ts';
import { createBindings } from '../../filters/bindings.ts';
import { kindsOf, kindsSql } from '../../filters/event-kinds.ts';
import { profileKeySql } from '../../identity/identity-sql.ts';
import { traitsMessage } from '../../profiles/stored-profile.ts';
import type { Statement } from '../../read-rows.ts';
import { planOf } from '../forms/forms.ts';
import { onlyPart } from '../forms/grouped-rows.ts';
import { readProfiles, storedProfiles } from '../forms/top/user-profiles.ts';
import { both, type EventCondition, eventsWhere, every } from '../read/event-condition.ts';
import type { Behind, Question } from '../read/question.ts';
import { textsOf } from '../read/rows.ts';
import { rangeOfReads, readStoredVersion } from '../run/stored-version.ts';
import { tooMuchWork } from '../run/work-bound.ts';
import { keyDigits, keySetSql, keyTextSql, mergedIdsSql } from '../sql/persons.ts';
import { groupText } from '../sql/property-text.ts';
import { readEventsSql } from '../sql/read-events.ts';

/** Runs one statement of at most so many rows. */
export type ReadRows = (statement: Statement, maxRows: number) => Promise<unknown[][]>;

export interface Person {
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
      distinctId: externalId || (ids.get(key) ?? ''),
      profile: { id, externalId, ...(properties && { properties }) },
    };
  });
}

type Ids = ReadonlyMap<string, string>;

/**
 * By their keys in hex. Who is behind a number did what the question names in its range; those who have other events
 * alone under an id of their own are looked for among all events at all times.
 */
async function idsOf(question: Question, keys: readonly string[], read: ReadRows): Promise<Ids> {
  const ids = new Map<string, string>();
  const always = {
    ...{ ...question, fromMs: minQuestionMs, toMs: maxQuestionMs },
    spec: { ...question.spec, events: [] },
  };
  const looks = [
    (rest: readonly string[]) => ownIds(question, rest, read),
    (rest: readonly string[]) => mergedIds(question.projectId, rest, read),
    (rest: readonly string[]) => ownIds(always, rest, read),
  ];
  for (const look of looks) {
    const rest = keys.filter((key) => !ids.has(key));
    if (rest.length === 0) break;
    for (const [key, id] of await look(rest)) ids.set(key, id);
  }
  return ids;
}

/** Of those who have events under the id whose hash their key is. */
async function ownIds(asked: Question, keys: readonly string[], read: ReadRows): Promise<Ids> {
  const question = { ...asked, everyEvent: every, bindings: asked.bindings.fork() };
  const list = keySetSql(question.bindings.bind('Array(String)', keys));
  const isAsked = eventsWhere(`(NOT cookieless AND profile_key IN ${list})`);
  const sql = readEventsSql(question, {
    condition: both(ofNamedKinds(question), isAsked),
    columns: { key: keyTextSql('byteSwap(profile_key)'), id: 'distinct_id' },
  });
  const statement = {
    sql: `SELECT key, any(id) FROM (${sql}) GROUP BY key`,
    params: question.bindings.params,
  };
  return idsIn(await read(statement, keys.length));
}

/** The events of a kind lie together in each day, so that few of all rows are read where each event has its kinds. */
function ofNamedKinds({ spec, bindings }: Question): EventCondition {
  const kinds = spec.events.map(({ event }) => (event === undefined ? [] : kindsOf(event)));
  if (kinds.some(({ length }) => length === 0)) return every;
  const isNamed = kindsSql({ kind: '', kinds: kinds.flat() }, bindings);
  return isNamed === undefined ? every : eventsWhere(isNamed);
}

/** Of those into whom others were merged, to their external ids. */
export async function mergedIds(
  projectId: string,
  keys: readonly string[],
  read: ReadRows,
): Promise<Ids> {
  if (keys.length === 0) return new Map();
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const asked = keySetSql(bindings.bind('Array(String)', keys));
  const roots = `(SELECT root_id ${mergedIdsSql(project)} AND ${profileKeySql('root_id')} IN ${asked})`;
  const sql = `SELECT lower(hex(substring(profile_id, 1, 8))), distinct_id FROM profiles FINAL
    WHERE project_id = ${project} AND NOT edge AND profile_id IN ${roots} LIMIT ${keys.length}`;
  return idsIn(await read({ sql, params: bindings.params }, keys.length));
}

function idsIn(rows: readonly unknown[][]): Ids {
  return new Map(rows.map(([key, id]) => [String(key), String(id)]));
}
