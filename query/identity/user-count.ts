// SQL that counts the users of events. An event's user is its profile's root, so that an id counts with its owner
// whenever the two were merged. It does not run the statement. No method uses it yet: counts per user are to build on
// it.

import { profileKeySql } from './identity-sql.ts';

export interface UserCount {
  /** The placeholder of the project's id. */
  project: string;
  /** SQL over columns of `events`: selects the events. */
  condition: string;
  /** SQL expressions over `events` by their names in the result; users are counted for each combination. */
  groups?: Readonly<Record<string, string>>;
  /** Off by default: a cookieless visitor has a new id every day. */
  includeCookieless?: boolean;
}

/**
 * Selects the groups and `users`, in no order; one row without groups. Ids are compared by their 64-bit keys: among ten
 * million users, the chance that any two count as one is three in a million.
 */
export function userCountSql({ project, condition, groups = {}, ...count }: UserCount): string {
  const names = Object.keys(groups);
  const named = Object.entries(groups).map(([name, sql]) => `${sql} AS ${name}, `);
  const who = count.includeCookieless === true ? '' : 'AND NOT cookieless';
  // DISTINCT before the merges are looked up: there are far fewer profiles than events.
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
