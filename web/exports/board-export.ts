// A board as an archive: a CSV file for each table of its tiles with the rows that the page shows, and tiles.csv, which
// says of every tile which files it has, until when they are complete, what is not counted, and why one has none.

import type {
  RenderResponse,
  Tile,
  TileResult,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { download } from '../browser/download.ts';
import { sentence } from '../results/provenance.tsx';
import { toast } from '../ui/toasts.tsx';
import { type Grid, toCsv } from './csv.ts';
import type { PartTables, ShownTable } from './shown-tables.ts';
import { type TextFile, zipOf } from './zip.ts';

const columns = ['Tile', 'File', 'Complete until', 'Note'];

/** `tablesOf`: what the page shows of a tile. Nothing is made while a tile is on its way: the reader is told. */
export function exportBoard(
  board: RenderResponse,
  tablesOf: (tileId: string) => PartTables | undefined,
): void {
  const { dashboard } = board;
  if (!dashboard) return;
  const asked = dashboard.tiles.filter(isAnswered);
  const waiting = asked.filter(({ id }) => (tablesOf(id)?.waiting.size ?? 1) > 0);
  if (waiting.length > 0) {
    toast('Some tiles are still on their way: export again once they are there.');
    return;
  }
  const files: TextFile[] = [];
  const rows: Grid['rows'][number][] = [];
  for (const [index, tile] of asked.entries()) {
    const result = board.results.find(({ tileId }) => tileId === tile.id);
    const tables = [...(tablesOf(tile.id)?.tables.values() ?? [])];
    const title = tile.title || `Tile ${index + 1}`;
    const named = tables.map((table) => ({ table, name: fileName(index, tile, table) }));
    files.push(
      ...named.map(({ name, table }) => ({ name, text: toCsv(table.grid, table.completeUntil) })),
    );
    const note = noteOf(result, tables);
    const said = named.map(({ name, table }) => [title, name, table.completeUntil ?? '', note]);
    rows.push(...(said.length > 0 ? said : [[title, '', '', note]]));
  }
  files.unshift({ name: 'tiles.csv', text: toCsv({ columns, rows }) });
  download(`${dashboard.displayName}.zip`, 'application/zip', zipOf(files, new Date()));
}

function isAnswered({ content }: Tile): boolean {
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

/** `01 Sign-ups.csv`; a tile with several tables names each. No file system takes the characters that are replaced. */
function fileName(index: number, { title }: Tile, { label }: ShownTable): string {
  const place = String(index + 1).padStart(2, '0');
  const name = (title === '' ? label.replace('Tile', '') : label).replace(
    /[\\/:*?"<>|\p{Cc}]/gu,
    '-',
  );
  return `${`${place} ${name}`.trim().slice(0, 100)}.csv`;
}

function noteOf(result: TileResult | undefined, tables: readonly ShownTable[]): string {
  const { outcome } = result ?? {};
  if (outcome?.case === 'error') return `${outcome.value.message} (${outcome.value.code})`;
  const leftOut = outcome?.case === 'insight' ? outcome.value.leftOut.map(sentence) : [];
  const isCut = outcome?.case === 'statement' && outcome.value.isCut;
  return [
    ...(tables.length === 0 ? ['There are no rows.'] : []),
    ...(isCut ? ['The statement has more rows than a board shows.'] : []),
    ...leftOut,
  ].join(' ');
}
