// Which profiles a page has: the newest that meet a condition. Each way to find them looks at as few as it can, and
// answers what a look at everybody would.

import type { Position } from '../cursor.ts';
import type { Bindings } from '../filters/bindings.ts';
import type { Statement } from '../read-rows.ts';
import {
  anonymousSql,
  everybodySql,
  meetingSql,
  namedSql,
  type ProfilesPage,
} from './profile-page-sql.ts';
import { always, type ProfileCondition } from './profile-selection.ts';
import { readProfile, type StoredProfile } from './stored-profile.ts';

interface PageQuery {
  /** The placeholder of the project's id. */
  project: string;
  condition: ProfileCondition;
  /** Holds what `project` and `condition` have bound. */
  bindings: Pick<Bindings, 'params'>;
  /** The last profile of the page before. */
  after: Position | undefined;
  maxRows: number;
}

/** Newest first; `stopped` where there may be more, though fewer than maxRows are here. */
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
 * The newest profiles that are looked at for a page with filters on the activity, before everybody's is summed up:
 * enough where one in five meets them.
 */
const windowRows = 500;

/** The rows of named profiles that are looked at first: enough where one in forty is on the page, and read in 3 ms. */
const searchedRows = 4_000;

/** The newest `maxRows` profiles after `after` that meet the condition. Throws what `read` throws. */
export async function findProfiles(read: Read, query: PageQuery): Promise<FoundProfiles> {
  const { condition, maxRows } = query;
  if (condition.parts?.activity === always) return findByTraits(read, query, condition.sql);
  if (condition.parts !== undefined && maxRows <= windowRows / 4) {
    const found = await findInWindow(read, query, condition.parts);
    if (found !== undefined) return found;
  }
  return readProfiles(read, query, everybodySql(pageOf(query, condition.sql)));
}

/**
 * Named profiles first: where they fill the page, an anonymous one that is older than all of them is not on it. Nor is
 * any where the condition asks for a trait.
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
  // Their rows are short: reading them never stops.
  const anonymous = await readProfiles(read, query, anonymousSql(page, oldest?.createTimeMs));
  const profiles = [...named.profiles, ...anonymous.profiles].sort(newestFirst);
  const end = oldest === undefined ? profiles.length : profiles.indexOf(oldest) + 1;
  return { profiles: profiles.slice(0, Math.min(end, query.maxRows)), stopped: named.stopped };
}

/** Of the newest rows alone where they fill the page: everybody's traits may be a hundred times as many. */
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

/** Undefined where the newest who meet the condition on traits are too few to fill the page with. */
async function findInWindow(
  read: Read,
  query: PageQuery,
  { traits, activity }: { traits: string; activity: string },
): Promise<FoundProfiles | undefined> {
  const found = await findByTraits(read, { ...query, maxRows: windowRows }, traits);
  if (found.profiles.length === 0) return found;
  const ids = found.profiles.map(({ id }) => id);
  const statement = meetingSql(query.project, activity, ids);
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
