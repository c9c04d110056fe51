// Conditions on the events of a person, whose ids are read once: for every statement of a call that reads their events.

import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import type { Bindings } from '../filters/bindings.ts';
import {
  eventsOfSql,
  idBytesSql,
  membersSql,
  profileIdSql,
  rootSql,
} from '../identity/identity-sql.ts';
import { maxReadRows, readRows } from '../read-rows.ts';

/** A person, named by any of their ids. */
export interface PersonAsked {
  /** SQL for the 16 bytes of the profile's id. */
  id: string;
  /** SQL for events to select besides the person's. */
  own: string;
}

export interface PersonsAsked {
  persons: readonly PersonAsked[];
  /** The placeholder of the project's id. */
  project: string;
  bindings: Bindings;
}

/** `own` finds cookieless visitors, who have no profile, by their id as it is stored. */
export function personOf(distinctId: string, project: string, bindings: Bindings): PersonAsked {
  const bound = bindings.bind('String', distinctId);
  return { id: profileIdSql(project, bound), own: `distinct_id = ${bound}` };
}

const maxIdCharacters = 1_048_576;

/** Reads each person's ids once, not in each window. A person of too many ids stays a subquery. */
export async function personConditions(
  clickhouse: RowReader,
  { persons, project, bindings }: PersonsAsked,
  deadline: Deadline,
): Promise<string[]> {
  const conditions: string[] = [];
  for (const { id, own } of persons) {
    const members = membersSql(project, rootSql(project, id));
    const result = await readRows(
      clickhouse,
      {
        sql: `SELECT lower(hex(id)) FROM ${members} LIMIT ${maxReadRows}`,
        params: bindings.params,
      },
      { deadline, maxRows: maxReadRows, maxCharacters: maxIdCharacters },
    );
    const ids = result.kind === 'rows' ? result.rows.map(([hex]) => String(hex)) : [];
    const isWhole = ids.length > 0 && ids.length < maxReadRows;
    conditions.push(eventsOfSql(isWhole ? idListSql(bindings, ids) : members, own));
  }
  return conditions;
}

function idListSql(bindings: Bindings, ids: readonly string[]): string {
  const list = bindings.bind('Array(String)', ids);
  return `(SELECT ${idBytesSql('hex')} AS id FROM (SELECT arrayJoin(${list}) AS hex))`;
}
