// The calls about saved questions: they are read from all boards, and changed as tiles of boards that are not open.

import type { Dashboard, Tile } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { dashboards } from '../boards/board-data.ts';
import { placeOfNew } from '../boards/draft.ts';
import { inProject } from '../client.ts';
import { questionsOf, type SavedQuestion } from './saved-questions.ts';

/** Boards that are read at once. */
const atOnce = 6;

/** Those of the project's own boards, by their names. */
export async function loadQuestions(projectId: string, end: AbortSignal): Promise<SavedQuestion[]> {
  const { dashboards: listed } = await dashboards.list({}, inProject(projectId, end));
  const own = listed.filter(({ builtIn }) => !builtIn);
  const boards: Dashboard[] = [];
  for (let from = 0; from < own.length; from += atOnce) {
    const some = own.slice(from, from + atOnce);
    const read = await Promise.all(
      some.map(({ id }) => dashboards.get({ id }, inProject(projectId, end))),
    );
    boards.push(...read.flatMap(({ dashboard }) => (dashboard ? [dashboard] : [])));
  }
  return questionsOf(boards);
}

/** A board is read, changed and saved. A revision that somebody else made meanwhile is an error that says so. */
export async function changeTiles(
  projectId: string,
  boardId: string,
  change: (tiles: readonly Tile[]) => Tile[],
): Promise<void> {
  const { dashboard } = await dashboards.get({ id: boardId }, inProject(projectId));
  if (!dashboard) throw new Error('the board was not sent');
  const { tiles, revision } = dashboard;
  const changed = { id: boardId, revision, tiles: change(tiles) };
  await dashboards.upsert(changed, inProject(projectId));
}

/** Beside or below the tiles that are there. */
export function withTile(tiles: readonly Tile[], tile: Tile): Tile[] {
  return [...tiles, { ...tile, ...placeOfNew(tiles, tile) }];
}
