// ProfilesService.List: streams the profiles of a project, newest first by creation, in pages. A page token names its
// page's last profile, so that profiles that appear meanwhile move nothing. Finding a page's profiles is
// profile-page.ts's.

import { setTimeout as delay } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import {
  type ListRequest,
  type ListResponse,
  ListResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { encodeCursor, type Position } from '../cursor.ts';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { idBytesSql, mergedIntoSql, ofProjectSql } from '../identity/identity-sql.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { readRows, type Statement } from '../read-rows.ts';
import { findProfiles, type Read } from './profile-page.ts';
import { readProfileSelection } from './profile-selection.ts';
import {
  activitySql,
  profileMessage,
  readActivity,
  type StoredActivity,
  type StoredProfile,
} from './stored-profile.ts';

const pageSize = 100;
/** Profiles read ahead after the first page: finding the next profiles is most of a page's cost. */
const readAhead = 900;
/** A pause after the first page: many callers leave then, and a search for more would be wasted. */
const leaveMs = 20;
/**
 * A stream holds no more of stored profiles than this, and one page of them as a message: traits of a usual size are
 * read ahead in full, and those of 64 KiB sixty at a time.
 */
const maxCharacters = 4_194_304;
/** A page of large profiles ends early: as objects, JSON may take twenty times the memory of its text. */
const maxPageCharacters = 1_048_576;

interface ListProfilesOptions {
  clickhouse: RowReader;
  /** Limits each read of a page, not the whole stream: the caller decides how much of it to take. */
  startDeadline: () => Deadline;
}

/** Throws invalid_argument for a request that breaks a rule, and the client's errors. */
export async function* listProfiles(
  options: ListProfilesOptions,
  projectId: string,
  request: ListRequest,
  standIns: JsonStandIns | undefined,
): AsyncGenerator<ListResponse> {
  const bindings = createBindings();
  const selection = readProfileSelection(projectId, request, bindings);
  const project = bindings.bind('String', projectId);
  const read: Read = (statement, maxRows) => rowsOf(options, statement, maxRows);
  let after = selection.after;
  let wanted = pageSize;
  for (;;) {
    const { condition } = selection;
    const query = { project, condition, bindings, after, maxRows: wanted + 1 };
    const found = await findProfiles(read, query);
    const pages = found.profiles.slice(0, wanted);
    const hasMore = found.stopped || found.profiles.length > wanted;
    for (let from = 0; from < Math.max(1, pages.length); ) {
      const page = onePage(pages, from);
      from += Math.max(1, page.length);
      after = positionOf(page.at(-1)) ?? after;
      const isLast = !hasMore && from >= pages.length;
      const response = create(ListResponseSchema, {
        nextPageToken:
          isLast || after === undefined ? '' : encodeCursor(after, selection.conditions),
      });
      const activities = await readActivities(read, projectId, page);
      response.profiles = page.map((stored) =>
        profileMessage(projectId, stored, activities.get(stored.id), standIns),
      );
      yield response;
    }
    if (!hasMore) return;
    if (wanted === pageSize) await delay(leaveMs);
    wanted = readAhead;
  }
}

async function rowsOf(
  { clickhouse, startDeadline }: ListProfilesOptions,
  statement: Statement,
  maxRows: number,
): Promise<{ rows: unknown[][]; stopped: boolean }> {
  const bounds = { deadline: startDeadline(), maxRows, maxCharacters };
  const result = await readRows(clickhouse, statement, bounds);
  if (result.kind === 'rows') return result;
  throw new ConnectError('the profiles are too large to be read', Code.ResourceExhausted);
}

/** The profiles of the page that starts at `from`: one at least, where there is one. */
function onePage(profiles: readonly StoredProfile[], from: number): readonly StoredProfile[] {
  let to = from;
  let characters = 0;
  while (to < profiles.length && to < from + pageSize && characters < maxPageCharacters) {
    const texts = profiles[to]?.traitValues ?? [];
    characters += texts.reduce((sum, text) => sum + text.length, 0);
    to++;
  }
  return profiles.slice(from, to);
}

function positionOf(profile: StoredProfile | undefined): Position | undefined {
  if (profile === undefined) return undefined;
  // A token holds 16 bytes, written as a UUID.
  const id = profile.id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { timeMs: profile.createTimeMs, id };
}

// A page's hundred rows lie anywhere in each part: two threads that take 64 granules in turns need two thirds of the
// time of one.
const rowsAnywhere = `SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 4096,
  merge_tree_min_bytes_for_concurrent_read = 1, optimize_move_to_prewhere = 0, enable_analyzer = 0`;

/** The totals of the events of a page's profiles and of the ids merged into them, by profile id. */
async function readActivities(
  read: Read,
  projectId: string,
  page: readonly StoredProfile[],
): Promise<ReadonlyMap<string, StoredActivity>> {
  const activities = new Map<string, StoredActivity>();
  if (page.length === 0) return activities;
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const list = bindings.bind(
    'Array(String)',
    page.map(({ id }) => id),
  );
  const sql = `WITH arrayMap(id -> ${idBytesSql('id')}, ${list}) AS asked, ${mergedIntoSql(project, 'asked')} AS merged
    SELECT lower(hex(transform(profile_id, merged.1, merged.2, profile_id))) AS id, ${activitySql}
    FROM profile_activity
    WHERE ${ofProjectSql(project)} AND profile_id IN (SELECT arrayJoin(arrayConcat(asked, merged.1)))
    GROUP BY id ${rowsAnywhere}`;
  const { rows } = await read({ sql, params: bindings.params }, pageSize);
  for (const [id, ...columns] of rows) {
    const activity = readActivity(columns);
    if (activity !== undefined) activities.set(String(id), activity);
  }
  return activities;
}
