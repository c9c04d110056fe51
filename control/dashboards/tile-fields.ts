// The rules of a dashboard's tiles: their ids, places and content. A question is checked by the service that answers
// it, through the function that it gives.

import { Code, ConnectError } from '@connectrpc/connect';
import { newId } from '../../platform/access/ids.ts';
import { questionOfFilters } from '../../platform/dashboards/question-of-filters.ts';
import {
  type DashboardFilters,
  StatementViewSchema,
  type Tile,
  TileDrawing,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { invalidArgument, optionalDisplayNameField, wholeField } from '../request-fields.ts';

/** Throws invalid_argument where a question with a dashboard's filters could not be answered, whatever its time. */
export type CheckQuestion = (spec: InsightQuerySpec, filters: DashboardFilters | undefined) => void;

/** Throws invalid_argument where a statement of the project is not allowed, and unavailable where nobody can tell. */
export type CheckStatement = (projectId: string, sql: string) => Promise<void>;

/** Of a dashboard: they run one after the other each time that somebody looks at it. */
const maxStatements = 10;
const maxMarkdownCharacters = 100_000;
/** The grid: how many columns wide, the last row in which a tile begins, and the most rows that one is high. */
const columns = 72;
const maxRow = 10_000;
const maxRows = 1_000;

/**
 * The tiles as they are stored, each with an id. Throws not_found for an id that is not in `knownIds`, and
 * invalid_argument that names the field. Questions, and what statements ask, are not looked at.
 */
export function tilesField(sent: readonly Tile[], knownIds: ReadonlySet<string>): Tile[] {
  checkMarkdown(sent);
  const taken = new Set<string>();
  return sent.map((tile, index) => {
    const field = `tiles[${index}]`;
    const { id } = tile;
    if (id !== '' && taken.has(id))
      throw invalidArgument(`${field}.id`, 'belongs to another tile too');
    if (id !== '' && !knownIds.has(id)) throw noSuchTile(field);
    taken.add(id);
    checkPlace(tile, field);
    if (tile.content.case === undefined) {
      throw invalidArgument(field, 'must have an insight, markdown or a statement');
    }
    if (TileDrawing[tile.drawing] === undefined)
      throw invalidArgument(`${field}.drawing`, 'must be a drawing of a tile');
    const title = optionalDisplayNameField(`${field}.title`, tile.title);
    // Both are in the answer when they are 0.
    const { x = 0, y = 0 } = tile;
    return { ...tile, id: id === '' ? newId() : id, title, x, y };
  });
}

/** Checks filters alone and with each question. Throws invalid_argument that names the tile's field. */
export function checkQuestions(
  tiles: readonly Tile[],
  filters: DashboardFilters | undefined,
  check: CheckQuestion,
): void {
  if (filters !== undefined) named('filters', () => check(questionOfFilters(filters), undefined));
  for (const [index, { content }] of tiles.entries()) {
    if (content.case !== 'insight') continue;
    named(`tiles[${index}].insight`, () => check(content.value, filters));
  }
}

/** Checks each statement but the texts of `known`, checked before. Throws as `check` does, with the field. */
export async function checkStatements(
  tiles: readonly Tile[],
  known: ReadonlySet<string>,
  check: (sql: string) => Promise<void>,
): Promise<void> {
  checkStatementCount(tiles);
  for (const [index, { content }] of tiles.entries()) {
    if (content.case !== 'statement') continue;
    const { sql, view } = content.value;
    const field = `tiles[${index}].statement`;
    if (sql.trim() === '') throw invalidArgument(`${field}.sql`, 'is required');
    if (StatementViewSchema.value[view] === undefined) {
      throw invalidArgument(`${field}.view`, 'is not one that is known');
    }
    if (known.has(sql)) continue;
    await check(sql).catch((error: unknown) => {
      if (!(error instanceof ConnectError)) throw error;
      throw new ConnectError(`${field}.sql: ${error.rawMessage}`, error.code);
    });
  }
}

/** The statements of a dashboard that is stored. */
export function statementsOf(tiles: readonly Tile[]): Set<string> {
  return new Set(
    tiles.flatMap(({ content }) => (content.case === 'statement' ? [content.value.sql] : [])),
  );
}

function checkStatementCount(tiles: readonly Tile[]): void {
  const count = tiles.filter(({ content }) => content.case === 'statement').length;
  if (count <= maxStatements) return;
  throw invalidArgument('tiles', `have at most ${maxStatements} statements`);
}

/** The checker names fields of its own request, below `spec`. */
function named(field: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.InvalidArgument) throw error;
    const inside = /^spec(?=[.:])/.test(error.rawMessage);
    const rest = inside ? error.rawMessage.slice('spec'.length) : `: ${error.rawMessage}`;
    throw new ConnectError(field + rest, Code.InvalidArgument);
  }
}

function checkMarkdown(tiles: readonly Tile[]): void {
  let characters = 0;
  for (const { content } of tiles) {
    if (content.case !== 'markdown') continue;
    characters += codePoints(content.value);
    if (characters <= maxMarkdownCharacters) continue;
    const rule = `markdown takes at most ${maxMarkdownCharacters} characters together`;
    throw invalidArgument('tiles', rule);
  }
}

function codePoints(text: string): number {
  const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
  return text.length - pairs;
}

function checkPlace({ x = 0, y = 0, w, h }: Tile, field: string): void {
  wholeField(`${field}.w`, w, 1, columns);
  wholeField(`${field}.x`, x, 0, columns - w);
  wholeField(`${field}.y`, y, 0, maxRow);
  wholeField(`${field}.h`, h, 1, maxRows);
}

function noSuchTile(field: string): ConnectError {
  return new ConnectError(`${field}.id: the dashboard has no such tile`, Code.NotFound);
}
