// Saves a question as a tile of a board: of one that is there, or of a new one.

import { create } from '@bufbuild/protobuf';
import { useState } from 'preact/hooks';
import { type Tile, TileSchema } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { dashboards } from '../boards/board-data.ts';
import { inProject } from '../client.ts';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { boardTime } from '../question/board-time.ts';
import type { QuestionForm } from '../question/forms.ts';
import { changeTiles, withTile } from '../questions/questions-client.ts';
import { forget, useResource } from '../resource.ts';
import { questionName } from '../results/names.ts';
import { address, navigate } from '../router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { toast } from '../ui/toasts.tsx';
import type { QuestionState } from './question-state.ts';

const newBoard = 'new';
/** Half the width of a board, and a height for a chart. */
const size = { w: 36, h: 18 };

export function SaveDialog(props: {
  projectId: string;
  form: QuestionForm;
  question: QuestionState;
  onClose: () => void;
}) {
  const { projectId, form, question, onClose } = props;
  const boards = useResource(`boards ${projectId}`, (end) =>
    dashboards.list({}, inProject(projectId, end)),
  );
  const own = (boards.data?.dashboards ?? []).filter(({ builtIn }) => !builtIn);
  const [title, setTitle] = useState(questionName(form.name, question.spec));
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState('');
  const asked = address.peek().query.get('board');
  const id = chosen ?? own.find((board) => board.id === asked)?.id ?? own.at(-1)?.id ?? newBoard;
  const save = async (): Promise<void> => {
    const tile = create(TileSchema, {
      ...size,
      title,
      content: { case: 'insight', value: question.spec },
    });
    const boardId =
      id === newBoard
        ? await make(projectId, name, question, tile)
        : await add(projectId, id, tile);
    forget(`board`);
    toast(`Saved: ${title}`);
    onClose();
    navigate(`/p/${projectId}/boards/${boardId}`);
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

async function make(
  projectId: string,
  displayName: string,
  { range }: QuestionState,
  tile: Tile,
): Promise<string> {
  const timeRange = boardTime(address.peek().query, range);
  const { dashboard } = await dashboards.create(
    { displayName, timeRange, tiles: [{ ...tile, x: 0, y: 0 }] },
    inProject(projectId),
  );
  return dashboard?.id ?? '';
}

async function add(projectId: string, id: string, tile: Tile): Promise<string> {
  await changeTiles(projectId, id, (tiles) => withTile(tiles, tile));
  return id;
}
