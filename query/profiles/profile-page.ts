// Finds the profiles of a page: the newest that meet a condition. It tries statements that look at few profiles first;
// each finds the same as a look at all profiles. The statements are profile-page-sql.ts's.

import type { Position } from '../cursor.ts';
import type { Bindings } from '../filters/bindings.ts';
import type { Statement } from '../read-rows.ts';
import {
  allProfilesSql,
  anonymousSql,
  matchingSql,
  namedSql,
  type ProfilesPage,
} from './profile-page-sql.ts';
import { always, type ProfileCondition } from './profile-selection.ts';
import { readProfile, type StoredProfile } from './stored-profile.ts';

interface PageQuery {
  /** The placeholder of the project's id. */
  project: string;
  condition: ProfileCondition;
  /** The parameters of `project` and `condition`. */
  bindings: Pick<Bindings, 'params'>;
  /** The last profile of the page before. */
  after: Position | undefined;
  maxRows: number;
}

/** Newest first. `stopped`: there may be more, though these are fewer than maxRows. */
interface FoundProfiles {
  profiles: StoredProfile[];
  stopped: boolean;
}

/** Runs a statement of at most `maxRows` rows. */
export type Read = (
  statement: Statement,
  maxRows: number,
) => Promise<{ rows: unknown[][]; stopped: boolean }>;

/**
 * For filters on activity, this many of the newest profiles are tried first, before the activity of all is summed up:
 * enough if one profile in five meets the filters.
 */
const windowRows = 500;

/** The newest rows of named profiles that are tried first: read in 3 ms, enough if one in forty meets the condition. */
const searchedRows = 4_000;

/** The newest `maxRows` profiles after `after` that meet the condition. Throws the errors of `read`. */
export async function findProfiles(read: Read, query: PageQuery): Promise<FoundProfiles> {
  const { condition, maxRows } = query;
  if (condition.parts?.activity === always) return findByTraits(read, query, condition.sql);
  if (condition.parts !== undefined && maxRows <= windowRows / 4) {
    const found = await findInWindow(read, query, condition.parts);
    if (found !== undefined) return found;
  }
  return readProfiles(read, query, allProfilesSql(pageOf(query, condition.sql)));
}

/**
 * Named profiles first. If they fill the page, anonymous profiles older than all of them are not on it. If the
 * condition asks for a trait, no anonymous profile is.
 */
async function findByTraits(
  read: Read,
  query: PageQuery,
  condition: string,
): Promise<FoundProfiles> {
  const page = pageOf(query, condition);
  const named = await readNamed(read, query, page);
  if (!query.condition.admitsTraitless) return named;
  const isFull = named.stopped || named.profiles.length === query.maxRows;
  const oldest = isFull ? named.profiles.at(-1) : undefined;
  // Rows of anonymous profiles are short: reading them never stops at maxCharacters.
  const anonymous = await readProfiles(read, query, anonymousSql(page, oldest?.createTimeMs));
  const profiles = [...named.profiles, ...anonymous.profiles].sort(newestFirst);
  const end = oldest === undefined ? profiles.length : profiles.indexOf(oldest) + 1;
  return { profiles: profiles.slice(0, Math.min(end, query.maxRows)), stopped: named.stopped };
}

/** From the newest rows only, if they fill the page: the traits of all profiles may be a hundred times as many. */
async function readNamed(read: Read, query: PageQuery, page: ProfilesPage): Promise<FoundProfiles> {
  const newest = await read(withParams(query, namedSql(page, searchedRows)), query.maxRows);
  const isAll = newest.rows[0]?.at(-1) === '0';
  const { rows, stopped } =
    isAll || newest.stopped || newest.rows.length === query.maxRows
      ? newest
      : await read(withParams(query, namedSql(page, undefined)), query.maxRows);
  return { profiles: rows.map(readProfile), stopped };
}

function newestFirst(a: StoredProfile, b: StoredProfile): number {
  return b.createTimeMs - a.createTimeMs || (a.id < b.id ? 1 : -1);
}

/** Undefined if too few of the newest profiles meet the conditions to fill the page. */
async function findInWindow(
  read: Read,
  query: PageQuery,
  { traits, activity }: { traits: string; activity: string },
): Promise<FoundProfiles | undefined> {
  const found = await findByTraits(read, { ...query, maxRows: windowRows }, traits);
  if (found.profiles.length === 0) return found;
  const ids = found.profiles.map(({ id }) => id);
  const statement = matchingSql(query.project, activity, ids);
  const { rows } = await read(withParams(query, statement), windowRows);
  const meeting = new Set(rows.map(([id]) => id));
  const profiles = found.profiles.filter(({ id }) => meeting.has(id));
  const isEverybody = found.profiles.length < windowRows && !found.stopped;
  if (!isEverybody && profiles.length < query.maxRows) return undefined;
  return { profiles: profiles.slice(0, query.maxRows), stopped: false };
}

function pageOf({ project, after, maxRows }: PageQuery, condition: string): ProfilesPage {
  return { project, condition, after, maxRows };
}

async function readProfiles(
  read: Read,
  query: PageQuery,
  statement: Statement,
): Promise<FoundProfiles> {
  const { rows, stopped } = await read(withParams(query, statement), query.maxRows);
  return { profiles: rows.map(readProfile), stopped };
}

function withParams({ bindings }: PageQuery, { sql, params }: Statement): Statement {
  return { sql, params: { ...bindings.params, ...params } };
}
