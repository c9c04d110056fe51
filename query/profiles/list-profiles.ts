// ProfilesService.List: streams the profiles of a project, newest first by creation, in pages. A page token names its
// page's last profile, so that profiles that appear meanwhile move nothing. Finding a page's profiles is
// profile-page.ts's, and in another order ordered-page.ts's.

import { setTimeout as delay } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import {
  type ListRequest,
  type ListResponse,
  ListResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { readTimeRange } from '../activity/activity-selection.ts';
import { decodeCursor, encodeCursor, type Position } from '../cursor.ts';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { profileKeySql } from '../identity/identity-sql.ts';
import {
  profilesListedSql,
  readListed,
  type SegmentOptions,
} from '../insights/segments/listed-persons.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { readRows, type Statement } from '../read-rows.ts';
import { orderedPage } from './ordered-page.ts';
import { readActivities } from './profile-activities.ts';
import { decodeOrderPlace, readProfileOrder } from './profile-order.ts';
import { findProfiles, type Read } from './profile-page.ts';
import { afterToken, readProfileSelection } from './profile-selection.ts';
import { profileMessage, type StoredProfile } from './stored-profile.ts';
import { addWorth, tooManyPayments } from './worth/profile-worth.ts';

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

interface ListProfilesOptions extends SegmentOptions {
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
  const project = bindings.bind('String', projectId);
  const listed = await readListed(options, projectId, request);
  const asked = { projectId, project, bindings, range: readTimeRange(undefined) };
  const inSegments = profilesListedSql(asked, listed, profileKeySql('id'));
  const selection = readProfileSelection(projectId, request, bindings, inSegments);
  const order = readProfileOrder(request, bindings);
  const tooLarge =
    order === undefined
      ? 'the profiles are too large to be read'
      : 'there are too many profiles to be ordered: leave orderBy out';
  const read: Read = (statement, maxRows) => rowsOf(options, statement, maxRows, tooLarge);
  const readWorth: Read = (statement, maxRows) =>
    rowsOf(options, statement, maxRows, tooManyPayments);
  if (order !== undefined) {
    const { conditions, condition } = selection;
    const page = await orderedPage(
      read,
      {
        ...{ projectId, project, bindings, order, conditions, pageSize },
        condition: condition.sql,
        ascending: request.ascending,
        after: afterToken(request, (token) => decodeOrderPlace(token, conditions)),
        maxCharacters: maxPageCharacters,
      },
      standIns,
    );
    if (request.withWorth) await addWorth(readWorth, projectId, page.profiles);
    yield page;
    return;
  }
  let after = afterToken(request, (token) => decodeCursor(token, selection.conditions));
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
      if (request.withWorth) await addWorth(readWorth, projectId, response.profiles);
      yield response;
      if (request.withWorth) return;
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
  tooLarge: string,
): Promise<{ rows: unknown[][]; stopped: boolean }> {
  const bounds = { deadline: startDeadline(), maxRows, maxCharacters };
  const result = await readRows(clickhouse, statement, bounds);
  if (result.kind === 'rows') return result;
  throw new ConnectError(tooLarge, Code.ResourceExhausted);
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
