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
import { asksFacts, readFacts } from '../read/property-types.ts';
import type { Question } from '../read/question.ts';
import { textsOf } from '../read/rows.ts';
import { rangeOfReads, readStoredVersion } from '../run/stored-version.ts';
import { checkWork } from '../run/work-bound.ts';
import { groupText } from '../sql/property-text.ts';
import { idsOf, type ReadRows } from './person-ids.ts';

export interface Person {
  /** In hex. */
  key: string;
  distinctId: string;
  profile: MessageInitShape<typeof TopKProfileSchema>;
}

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
  const { projectId } = asked;
  const first = planOf(asked);
  const { notes } = first.question;
  const look = () => readStoredVersion(clickhouse, projectId, rangeOfReads(notes.reads), deadline);
  await checkWork(asked, look, deadline, parent);
  const { sql, question } = asksFacts(notes)
    ? planOf(asked, await readFacts(clickhouse, projectId, notes, deadline))
    : first;
  const rows = await read({ sql, params: question.bindings.params }, asked.behind?.maxPersons ?? 0);
  return rows
    .filter(([part]) => Number(part) === onlyPart)
    .map(([, , values]) => groupText(textsOf(values).at(-1)) ?? '')
    .sort();
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
