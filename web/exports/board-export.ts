// A board as an archive: a CSV file for each table of its tiles with the rows that the page shows, and tiles.csv, which
// says of every tile which files it has, until when they are complete, what is not counted, and why one has none.

import type {
  RenderResponse,
  Tile,
  TileResult,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type {
  RenderResponse as SharedBoard,
  SharedTile,
} from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { download } from '../browser/download.ts';
import { sentence } from '../results/provenance.tsx';
import { toast } from '../ui/toasts.tsx';
import { type Grid, toCsv } from './csv.ts';
import type { PartTables, ShownTable } from './shown-tables.ts';
import { type TextFile, zipOf } from './zip.ts';

const columns = ['Tile', 'File', 'Complete until', 'Note'];

/** What the page shows of a tile. */
type TablesOf = (tileId: string) => PartTables | undefined;

/** A tile that asks something, and its answer. `for members`: whoever has the link of a board has no answer of it. */
interface AskedTile extends Pick<Tile, 'id' | 'title'> {
  outcome: TileResult['outcome'] | { case: 'for members' };
}

/** Nothing is made while a tile is on its way: the reader is told. */
export function exportBoard({ dashboard, results }: RenderResponse, tablesOf: TablesOf): void {
  if (!dashboard) return;
  const tiles = dashboard.tiles.filter(isAsked).map(({ id, title }) => {
    const result = results.find(({ tileId }) => tileId === id);
    return { id, title, outcome: result?.outcome ?? { case: undefined } };
  });
  takeTables(dashboard.displayName, tiles, tablesOf);
}

/** The same of a board as whoever has its link sees it. */
export function exportSharedBoard({ displayName, tiles }: SharedBoard, tablesOf: TablesOf): void {
  takeTables(displayName, tiles.flatMap(askedOfShared), tablesOf);
}

function takeTables(name: string, tiles: readonly AskedTile[], tablesOf: TablesOf): void {
  if (tiles.some(({ id }) => (tablesOf(id)?.waiting.size ?? 1) > 0)) {
    toast('Some tiles are still on their way: export again once they are there.');
    return;
  }
  const files: TextFile[] = [];
  const rows: Grid['rows'][number][] = [];
  for (const [index, tile] of tiles.entries()) {
    const tables = [...(tablesOf(tile.id)?.tables.values() ?? [])];
    const title = tile.title || `Tile ${index + 1}`;
    const named = tables.map((table) => ({ table, name: fileName(index, tile, table) }));
    files.push(
      ...named.map(({ name, table }) => ({ name, text: toCsv(table.grid, table.completeUntil) })),
    );
    const note = noteOf(tile, tables);
    const said = named.map(({ name, table }) => [title, name, table.completeUntil ?? '', note]);
    rows.push(...(said.length > 0 ? said : [[title, '', '', note]]));
  }
  files.unshift({ name: 'tiles.csv', text: toCsv({ columns, rows }) });
  download(`${name}.zip`, 'application/zip', zipOf(files, new Date()));
}

function isAsked({ content }: Tile): boolean {
  switch (content.case) {
    case 'insight':
    case 'statement':
      return true;
    case 'markdown':
    case undefined:
      return false;
    default:
      return content satisfies never;
  }
}

function askedOfShared({ id, title, content, membersOnly }: SharedTile): AskedTile[] {
  if (membersOnly) return [{ id, title, outcome: { case: 'for members' } }];
  switch (content.case) {
    case 'insight':
    case 'error':
      return [{ id, title, outcome: content }];
    case 'markdown':
    case undefined:
      return [];
    default:
      return content satisfies never;
  }
}

/** `01 Sign-ups.csv`; a tile with several tables names each. No file system takes the characters that are replaced. */
function fileName(index: number, { title }: AskedTile, { label }: ShownTable): string {
  const place = String(index + 1).padStart(2, '0');
  const name = (title === '' ? label.replace('Tile', '') : label).replace(
    /[\\/:*?"<>|\p{Cc}]/gu,
    '-',
  );
  return `${`${place} ${name}`.trim().slice(0, 100)}.csv`;
}

function noteOf({ outcome }: AskedTile, tables: readonly ShownTable[]): string {
  const none = tables.length === 0 ? ['There are no rows.'] : [];
  switch (outcome.case) {
    case 'error':
      return `${outcome.value.message} (${outcome.value.code})`;
    case 'for members':
      return 'It is made in SQL, and shown to members alone.';
    case 'insight':
      return [...none, ...outcome.value.leftOut.map(sentence)].join(' ');
    case 'statement': {
      const cut = outcome.value.isCut ? ['The statement has more rows than a board shows.'] : [];
      return [...none, ...cut].join(' ');
    }
    case undefined:
      return none.join(' ');
    default:
      return outcome satisfies never;
  }
}
