// How many users some events are of, as SQL: an event's user is the person its profile belongs to once merges are
// followed, so that an id counts with its owner whenever the two were merged. Whoever counts per user builds on this.

import { profileKeySql } from './identity-sql.ts';

export interface UserCount {
  /** The placeholder of the project's id. */
  project: string;
  /** What holds for the events to look at, as SQL over columns of `events`. */
  condition: string;
  /** Expressions over `events` by the names that they get in the answer; users are counted for each combination. */
  groups?: Readonly<Record<string, string>>;
  /** A cookieless visitor is a new one every day, so none is counted unless this says so. */
  includeCookieless?: boolean;
}

/**
 * Rows of the groups and `users`, in no order; without groups one row. Ids are told apart by their keys of 64 bits: of
 * ten million users, the chance that two are taken for one is three in a million.
 */
export function userCountSql({ project, condition, groups = {}, ...count }: UserCount): string {
  const names = Object.keys(groups);
  const named = Object.entries(groups).map(([name, sql]) => `${sql} AS ${name}, `);
  const who = count.includeCookieless === true ? '' : 'AND NOT cookieless';
  // Each profile once before the merges are looked up: there are far fewer of them than events.
  const profiles = `SELECT DISTINCT ${named.join('')}profile_key FROM events
    WHERE project_id = ${project} ${who} AND (${condition})`;
  const userKey = 'if(edges.user_key = 0, seen.profile_key, edges.user_key)';
  const groupBy = names.length === 0 ? '' : `GROUP BY ${names.join(', ')}`;
  return `SELECT ${names.map((name) => `${name}, `).join('')}uniqExact(${userKey}) AS users
    FROM (${profiles}) AS seen
    LEFT ANY JOIN (
      SELECT profile_key, ${profileKeySql('root_id')} AS user_key
      FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != ''
    ) AS edges ON edges.profile_key = seen.profile_key ${groupBy}`;
}
