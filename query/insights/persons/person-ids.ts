// The ids by which senders know persons: the external id that Identify set, or of an anonymous one the id that the
// sender gave, which only its events have.

import { maxQuestionMs, minQuestionMs } from '../../../platform/limits.ts';
import { createBindings } from '../../filters/bindings.ts';
import { kindsOf, kindsSql } from '../../filters/event-kinds.ts';
import { profileKeySql } from '../../identity/identity-sql.ts';
import type { Statement } from '../../read-rows.ts';
import { both, type EventCondition, eventsWhere, every } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { keySetSql, keyTextSql, mergedIdsSql } from '../sql/persons.ts';
import { readEventsSql } from '../sql/read-events.ts';

/** Runs one statement of at most so many rows. */
export type ReadRows = (statement: Statement, maxRows: number) => Promise<unknown[][]>;

type Ids = ReadonlyMap<string, string>;

/**
 * By their keys in hex. Who is behind a number did what the question names in its range; those who have other events
 * alone under an id of their own are looked for among all events at all times.
 */
export async function idsOf(
  question: Question,
  keys: readonly string[],
  read: ReadRows,
): Promise<Ids> {
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
