// Takes a board away: the rows of its tiles as files, or the page itself by the browser's own print.

import type { RenderResponse } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { explain } from '../../client.ts';
import type { PartTables } from '../../exports/shown-tables.ts';
import { loadCode } from '../../shell/load-code.ts';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { toast } from '../../ui/toasts.tsx';

const loadBoardExport = async () => (await import('../../exports/board-export.ts')).exportBoard;

export function ExportMenu(props: {
  board: RenderResponse;
  tables: ReadonlyMap<string, PartTables>;
}) {
  const { board, tables } = props;
  const take = async (): Promise<void> => {
    try {
      const exportBoard = await loadCode(loadBoardExport, new AbortController().signal);
      exportBoard(board, (id) => tables.get(id));
    } catch (cause) {
      toast(explain(cause).what);
    }
  };
  if (board.dashboard?.tiles.length === 0) return null;
  return (
    <Menu label="Export" align="end" button="Export">
      <MenuItem onChoose={() => void take()}>The rows of all tiles as CSV files</MenuItem>
      <MenuItem onChoose={() => window.print()}>Print or save as PDF</MenuItem>
    </Menu>
  );
}
