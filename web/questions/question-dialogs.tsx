// Another name for a saved question, a copy of it on another board, and its end.

import { useState } from 'preact/hooks';
import { dashboards } from '../boards/board-data.ts';
import { inProject } from '../client.ts';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { changeTiles, withTile } from './questions-client.ts';
import { keyOf, type SavedQuestion } from './saved-questions.ts';

type DialogProps = {
  projectId: string;
  question: SavedQuestion;
  onClose: () => void;
  /** Takes what a toast says. */
  onDone: (text: string) => void;
};

/** On every board that it stands on. */
export function RenameDialog({ projectId, question, onClose, onDone }: DialogProps) {
  const [title, setTitle] = useState(question.name);
  const rename = async (): Promise<void> => {
    for (const { id } of question.boards) {
      await changeTiles(projectId, id, (tiles) =>
        tiles.map((one) => (keyOf(one) === question.key ? { ...one, title } : one)),
      );
    }
    onDone(`Renamed: ${title}`);
  };
  return (
    <Dialog title={`Rename ${question.name}`} onClose={onClose}>
      <Form action="Rename" send={rename} isReady={title !== '' && title !== question.name}>
        <Field label="Name" value={title} onValue={setTitle} maxLength={150} required />
      </Form>
    </Dialog>
  );
}

export function CopyDialog({ projectId, question, onClose, onDone }: DialogProps) {
  const boards = useResource(`boards ${projectId}`, (end) =>
    dashboards.list({}, inProject(projectId, end)),
  );
  const isThere = (id: string): boolean => question.boards.some((board) => board.id === id);
  const others = (boards.data?.dashboards ?? []).filter(
    ({ builtIn, id }) => !builtIn && !isThere(id),
  );
  const [chosen, setChosen] = useState<string>();
  const board = others.find(({ id }) => id === chosen) ?? others[0];
  const copy = async (): Promise<void> => {
    const [first] = question.boards;
    if (!board || !first) return;
    // A tile without an id is a new one.
    await changeTiles(projectId, board.id, (tiles) => withTile(tiles, { ...first.tile, id: '' }));
    onDone(`Copied to ${board.displayName}`);
  };
  return (
    <Dialog title={`Copy ${question.name}`} onClose={onClose}>
      <Fault cause={boards.error} retry={boards.reload} />
      {boards.data && others.length === 0 ? (
        <p>It stands on every board already. Boards makes another one.</p>
      ) : (
        <Form action="Copy" send={copy} isReady={board !== undefined}>
          <Select
            label="Board"
            value={board?.id ?? ''}
            options={others.map(({ id, displayName }) => ({ value: id, name: displayName }))}
            onValue={setChosen}
          />
        </Form>
      )}
    </Dialog>
  );
}

/** From every board that it stands on. */
export function DeleteDialog({ projectId, question, onClose, onDone }: DialogProps) {
  const remove = async (): Promise<void> => {
    for (const { id } of question.boards) {
      await changeTiles(projectId, id, (tiles) =>
        tiles.filter((one) => keyOf(one) !== question.key),
      );
    }
    onDone(`Deleted: ${question.name}`);
  };
  return (
    <Dialog title={`Delete ${question.name}`} onClose={onClose}>
      <p>It leaves {question.boards.map(({ name }) => name).join(', ')}. The events stay.</p>
      <Form action="Delete insight" send={remove} isReady>
        {null}
      </Form>
    </Dialog>
  );
}
