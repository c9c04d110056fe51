// The tiles of a board in their grid, with the answers that came with the board. A question that was just written has
// none yet and is asked alone.

import type { ComponentChildren } from 'preact';
import type {
  RenderedTime,
  RenderResponse,
  Statement,
  Tile,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  Granularity,
  type InsightQuerySpec,
  type QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { explain, inProject } from '../client.ts';
import { PartOfPage, type PartTables } from '../exports/shown-tables.ts';
import { botsWhere, groupWithoutBots } from '../filter/bots.tsx';
import { botProperty, fromPropertyFilter } from '../filter/condition.ts';
import { segmentsOfAddress } from '../filter/known-segments.ts';
import { withSegments } from '../filter/segment-names.ts';
import { writeSpec } from '../question/ask.ts';
import { timeKey } from '../question/board-time.ts';
import { questionHref, withGroups } from '../question/question-link.ts';
import { rowsHref } from '../question/rows-link.ts';
import { useResource } from '../resource.ts';
import { idOfDrawing } from '../results/drawings/tile-drawings.ts';
import type { Rows } from '../results/shown.ts';
import { navigate } from '../router.ts';
import { hasRole, Role } from '../workspace.ts';
import { insights, resultOf } from './board-data.ts';
import { type DraftTile, type Place, placeOf } from './draft.ts';
import { Grid } from './grid.tsx';
import { type TileContent, TileView } from './tile-view.tsx';

export function BoardTiles(props: {
  projectId: string;
  board: RenderResponse;
  tiles: readonly DraftTile[];
  onPlace?: (key: string, place: Place) => void;
  toolsOf?: (tile: DraftTile) => ComponentChildren;
  /** Where the tables of a tile are told. */
  tablesOf?: (tileId: string) => PartTables;
}) {
  const { projectId, board, tiles, onPlace, toolsOf, tablesOf } = props;
  return (
    <Grid
      onPlace={onPlace}
      tiles={tiles.map((one) => ({
        key: one.key,
        title: one.tile.title,
        place: placeOf(one.tile),
        view: (
          <PartOfPage.Provider value={tablesOf?.(one.tile.id)}>
            <OneTile
              projectId={projectId}
              board={board}
              tile={one.tile}
              tools={toolsOf?.(one)}
              isRead={!onPlace}
            />
          </PartOfPage.Provider>
        ),
      }))}
    />
  );
}

function OneTile(props: {
  projectId: string;
  board: RenderResponse;
  tile: Tile;
  tools: ComponentChildren;
  isRead: boolean;
}) {
  const { projectId, board, tile } = props;
  const saved = savedContent(board, tile);
  const spec = specOf(tile);
  const asked = useAnswer(
    projectId,
    board.time,
    saved || !spec ? undefined : wholeQuestion(board, spec),
  );
  const content = saved ?? asked;
  const drawing = idOfDrawing(tile.drawing);
  const open = (rows: Rows): void => {
    const href = spec ? rowsHref(rowsContext(projectId, board, spec), rows) : undefined;
    if (href) navigate(href);
  };
  return (
    <TileView
      title={tile.title}
      rows={tile.h}
      content={content}
      time={board.time}
      drawing={drawing}
      tools={props.tools}
      href={props.isRead ? hrefOf(projectId, board, tile, drawing) : undefined}
      onOpen={props.isRead ? open : undefined}
    />
  );
}

/** Where its question can be asked further, or its statement be changed. */
function hrefOf(
  projectId: string,
  board: RenderResponse,
  tile: Tile,
  drawing: string | undefined,
): string | undefined {
  const { content } = tile;
  switch (content.case) {
    case 'insight':
      return questionHref({ ...questionContext(projectId, board, content.value), drawing });
    case 'statement': {
      if (!hasRole(Role.MEMBER)) return undefined;
      const from = new URLSearchParams({ board: board.dashboard?.id ?? '', tile: tile.id });
      return `/p/${projectId}/sql?${from}`;
    }
    case 'markdown':
    case undefined:
      return undefined;
    default:
      return content satisfies never;
  }
}

function specOf({ content }: Tile): InsightQuerySpec | undefined {
  return content.case === 'insight' ? content.value : undefined;
}

/** undefined where the board as it is saved asks something else at this tile. */
function savedContent(board: RenderResponse, tile: Tile): TileContent | undefined {
  if (tile.content.case === 'markdown') return { kind: 'text', markdown: tile.content.value };
  if (tile.content.case === 'statement') return statementContent(board, tile, tile.content.value);
  const spec = specOf(tile);
  const saved = board.dashboard?.tiles.find(({ id }) => id === tile.id);
  const savedSpec = saved && specOf(saved);
  if (!spec || !savedSpec || writeSpec(spec) !== writeSpec(savedSpec)) return undefined;
  const result = resultOf(board, tile.id);
  if (result?.outcome.case === 'error') return { kind: 'error', error: result.outcome.value };
  if (result?.outcome.case !== 'insight') return undefined;
  return {
    kind: 'answer',
    spec: savedSpec,
    answer: result.outcome.value,
    previous: result.previous,
  };
}

/** A statement runs with its board alone: the answer of a changed one comes when the board is saved. */
function statementContent(
  board: RenderResponse,
  tile: Tile,
  { sql, view }: Statement,
): TileContent {
  const saved = board.dashboard?.tiles.find(({ id }) => id === tile.id)?.content;
  const { outcome } = resultOf(board, tile.id) ?? {};
  if (saved?.case !== 'statement' || saved.value.sql !== sql) {
    return { kind: 'note', text: 'It is run when the board is saved.' };
  }
  if (outcome?.case === 'error') return { kind: 'error', error: outcome.value };
  if (outcome?.case === 'statement') return { kind: 'statement', view, answer: outcome.value };
  return { kind: 'note', text: 'There is no answer: load the board again.' };
}

function useAnswer(
  projectId: string,
  time: RenderedTime | undefined,
  spec: InsightQuerySpec | undefined,
): TileContent {
  const key =
    spec && time?.range ? `tile ${projectId} ${timeKey(time)} ${writeSpec(spec)}` : undefined;
  const { data, error } = useResource<{ spec: InsightQuerySpec; answer: QueryResponse }>(
    key,
    async (end) => {
      if (!spec || !time?.range) throw new Error('nothing to ask');
      const { granularity, timezone, weekStart, range } = time;
      const request = { spec, timeRange: range, granularity, timezone, weekStart };
      return { spec, answer: await insights.query(request, inProject(projectId, end)) };
    },
  );
  if (error) return { kind: 'error', error: asTileError(error) };
  if (!data) return { kind: 'waiting' };
  return { kind: 'answer', spec: data.spec, answer: data.answer, previous: undefined };
}

function asTileError(cause: unknown) {
  const { what, todo } = explain(cause);
  return { $typeName: 'dashboard.dashboards.v1.TileError' as const, code: todo, message: what };
}

/** The days that the board shows, as addresses have them. */
function daysOf(time: RenderedTime | undefined): Record<string, string> {
  return time ? { from: time.firstDay, to: time.lastDay } : {};
}

/** What holds besides the question's own conditions: those of the board, and that of bots. */
function groupsBeside({ dashboard, hasBots }: RenderResponse, spec: InsightQuerySpec) {
  const ofBoard = dashboard?.filters?.filterGroups ?? [];
  const whole = { ...spec, filterGroups: [...spec.filterGroups, ...ofBoard] };
  const isOfPeople = botsWhere(hasBots ?? false) === 'left out' && !saysOfBots(whole);
  return isOfPeople ? [...ofBoard, groupWithoutBots()] : ofBoard;
}

/** With the segments of the board and of the address. */
function ofSegments({ dashboard }: RenderResponse, spec: InsightQuerySpec): InsightQuerySpec {
  const { segments = [], notInSegments = [] } = dashboard?.filters ?? {};
  return withSegments(withSegments(spec, { segments, notInSegments }), segmentsOfAddress());
}

/** As the board asks it; without the others' conditions where one question cannot say both, until it is saved. */
function wholeQuestion(board: RenderResponse, spec: InsightQuerySpec): InsightQuerySpec {
  return ofSegments(board, withGroups(spec, groupsBeside(board, spec)) ?? spec);
}

/** Whether a question compares or groups by $bot: it is asked as it is. */
function saysOfBots(spec: InsightQuerySpec): boolean {
  return writeSpec(spec).includes(JSON.stringify(botProperty));
}

function questionContext(projectId: string, board: RenderResponse, spec: InsightQuerySpec) {
  return {
    ...{ projectId, spec: ofSegments(board, spec) },
    ...{ filterGroups: groupsBeside(board, spec), time: daysOf(board.time) },
  };
}

function rowsContext(projectId: string, board: RenderResponse, spec: InsightQuerySpec) {
  const { time } = board;
  return {
    projectId,
    spec: ofSegments(board, spec),
    granularity: time?.granularity ?? Granularity.DAY,
    conditions: groupsBeside(board, spec).flatMap(({ filters }) => filters.map(fromPropertyFilter)),
    time: daysOf(time),
  };
}
