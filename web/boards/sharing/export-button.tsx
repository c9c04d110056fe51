// Takes away what a board shows: the rows of its tiles as files, or the page by the browser's own print.

import type { RenderResponse } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { PartTables } from '../../exports/shown-tables.ts';
import { runLoaded } from '../../ui/run-loaded.ts';

const loadBoardExport = async () => (await import('../../exports/board-export.ts')).exportBoard;

export function ExportButton(props: {
  board: RenderResponse;
  tables: ReadonlyMap<string, PartTables>;
}) {
  const { board, tables } = props;
  const take = () =>
    runLoaded(loadBoardExport, (exportBoard) => exportBoard(board, (id) => tables.get(id)));
  return (
    <button
      type="button"
      title="The rows of all tiles as CSV files"
      onClick={() => void take()}
      disabled={board.dashboard?.tiles.length === 0}
    >
      Export
    </button>
  );
}

export function PrintButton() {
  return (
    <button type="button" title="Print or save as PDF" onClick={() => window.print()}>
      Print
    </button>
  );
}
