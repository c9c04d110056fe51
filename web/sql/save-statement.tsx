// Saves a statement as a tile of a board, or puts it into the tile that it was opened from.

import { create } from '@bufbuild/protobuf';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import {
  type StatementView,
  type Tile,
  TileSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { nameOfView, type ShownAs, shownAs, viewOf } from '../boards/statements/answer-rows.ts';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { boardTime } from '../question/board-time.ts';
import { changeTiles } from '../questions/questions-client.ts';
import { openSaved, SaveTileDialog } from '../questions/save-tile-dialog.tsx';
import { address } from '../router.ts';
import { hasRange, useRange } from '../time/range.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** A tile of a board whose statement is on the page. */
export interface OpenedTile {
  boardId: string;
  tile: Tile;
  sql: string;
  view: StatementView;
}

const size = { w: 36, h: 16 };

export function SaveStatement(props: {
  projectId: string;
  sql: string;
  opened: OpenedTile | undefined;
  /** It stands on a board now. */
  onSaved: () => void;
  onClose: () => void;
}) {
  const { projectId, sql, opened, onSaved, onClose } = props;
  const [view, setView] = useState<ShownAs>(opened ? nameOfView(opened.view) : 'table');
  const range = useRange();
  const choice = (
    <Select
      label="Shown as"
      value={view}
      options={shownAs}
      onValue={setView}
      hint="Everybody who may read the board sees its rows. By a link nobody does."
    />
  );
  const contentOf = () => ({ case: 'statement', value: { sql, view: viewOf(view) } }) as const;
  if (opened !== undefined) {
    return (
      <ReplaceDialog
        title={opened.tile.title}
        onClose={onClose}
        save={async (title) => {
          const { boardId, tile } = opened;
          const changed = create(TileSchema, { content: contentOf() });
          await changeTiles(projectId, boardId, (tiles) =>
            tiles.map((one) =>
              one.id === tile.id ? { ...one, title, content: changed.content } : one,
            ),
          );
          onSaved();
          onClose();
          openSaved(projectId, boardId, title);
        }}
      >
        {choice}
      </ReplaceDialog>
    );
  }
  const { query } = address.peek();
  return (
    <SaveTileDialog
      projectId={projectId}
      title=""
      tileOf={(title) => create(TileSchema, { ...size, title, content: contentOf() })}
      {...(hasRange(query) && { timeRange: boardTime(query, range) })}
      onClose={onClose}
    >
      {choice}
    </SaveTileDialog>
  );
}

function ReplaceDialog(props: {
  title: string;
  save: (title: string) => Promise<void>;
  children: ComponentChildren;
  onClose: () => void;
}) {
  const [title, setTitle] = useState(props.title);
  return (
    <Dialog title="Save the tile" onClose={props.onClose}>
      <Form action="Save" isReady={title !== ''} send={() => props.save(title)}>
        <Field
          label="Title of the tile"
          value={title}
          onValue={setTitle}
          maxLength={150}
          required
        />
        {props.children}
      </Form>
    </Dialog>
  );
}
