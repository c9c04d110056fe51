// Saves a tile to a board: to one that is there, or to a new one.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Tile } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { dashboards } from '../boards/board-data.ts';
import { inProject } from '../client.ts';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import type { boardTime } from '../question/board-time.ts';
import { forget, useResource } from '../resource.ts';
import { address, navigate } from '../router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { toast } from '../ui/toasts.tsx';
import { changeTiles, withTile } from './questions-client.ts';

const newBoard = 'new';

export function SaveTileDialog(props: {
  projectId: string;
  title: string;
  tileOf: (title: string) => Tile;
  /** Of a new board; its usual one unless given. */
  timeRange?: ReturnType<typeof boardTime>;
  /** Fields besides. */
  children?: ComponentChildren;
  onClose: () => void;
}) {
  const { projectId, tileOf, timeRange, onClose } = props;
  const boards = useResource(`boards ${projectId}`, (end) =>
    dashboards.list({}, inProject(projectId, end)),
  );
  const own = (boards.data?.dashboards ?? []).filter(({ builtIn }) => !builtIn);
  const [title, setTitle] = useState(props.title);
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState('');
  const asked = address.peek().query.get('board');
  const id = chosen ?? own.find((board) => board.id === asked)?.id ?? own.at(-1)?.id ?? newBoard;
  const save = async (): Promise<void> => {
    const tile = tileOf(title);
    const boardId =
      id === newBoard
        ? await make(projectId, name, timeRange, tile)
        : await add(projectId, id, tile);
    onClose();
    openSaved(projectId, boardId, title);
  };
  return (
    <Dialog title="Save to a board" onClose={onClose}>
      <Fault cause={boards.error} retry={boards.reload} />
      <Form
        action="Save"
        isReady={boards.data !== undefined && title !== '' && (id !== newBoard || name !== '')}
        send={save}
      >
        <Field
          label="Title of the tile"
          value={title}
          onValue={setTitle}
          maxLength={150}
          required
        />
        {props.children}
        <Select
          label="Board"
          value={id}
          options={[
            ...own.map((board) => ({ value: board.id, name: board.displayName })),
            { value: newBoard, name: 'A new board' },
          ]}
          onValue={setChosen}
        />
        {id === newBoard ? (
          <Field
            label="Name of the board"
            value={name}
            onValue={setName}
            maxLength={150}
            required
          />
        ) : null}
      </Form>
    </Dialog>
  );
}

/** Goes to the board on which a tile was saved. */
export function openSaved(projectId: string, boardId: string, title: string): void {
  forget('board');
  toast(`Saved: ${title}`);
  navigate(`/p/${projectId}/boards/${boardId}`);
}

async function make(
  projectId: string,
  displayName: string,
  timeRange: ReturnType<typeof boardTime> | undefined,
  tile: Tile,
): Promise<string> {
  const { dashboard } = await dashboards.create(
    {
      ...{ displayName, tiles: [{ ...tile, x: 0, y: 0 }] },
      ...(timeRange && { timeRange }),
    },
    inProject(projectId),
  );
  return dashboard?.id ?? '';
}

async function add(projectId: string, id: string, tile: Tile): Promise<string> {
  await changeTiles(projectId, id, (tiles) => withTile(tiles, tile));
  return id;
}
