// The boards of a project: made, copied, deleted here.

import { useState } from 'preact/hooks';
import type { Dashboard } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { inProject } from '../client.ts';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { forget, useResource } from '../resource.ts';
import type { PageProps } from '../router.ts';
import { navigate } from '../router.ts';
import { Time } from '../time/time.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';
import { dashboards } from './board-data.ts';
import '../styles/boards.css';

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const { data, error, reload } = useResource(`boards ${projectId}`, (end) =>
    dashboards.list({}, inProject(projectId, end)),
  );
  const [copied, setCopied] = useState<Dashboard | 'none'>();
  const [deleted, setDeleted] = useState<Dashboard>();
  const [fault, setFault] = useState<unknown>();
  const mayChange = hasRole(Role.MEMBER);
  const remove = async ({ id, displayName }: Dashboard): Promise<void> => {
    setDeleted(undefined);
    try {
      await dashboards.delete({ id }, inProject(projectId));
      forget('board');
      toast(`Deleted: ${displayName}`);
      reload();
    } catch (cause) {
      setFault(cause);
    }
  };
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Boards</h1>
        {mayChange ? (
          <button type="button" class="primary" onClick={() => setCopied('none')}>
            <Icon name="plus" />
            New board
          </button>
        ) : null}
      </div>
      <p class="hint">A board shows insights side by side. Save an insight to one.</p>
      <Fault cause={error ?? fault} retry={reload} />
      {data ? (
        <ul class="board-list">
          {data.dashboards.map((board) => (
            <BoardRow
              key={board.id}
              projectId={projectId}
              board={board}
              {...(mayChange
                ? { onCopy: () => setCopied(board), onDelete: () => setDeleted(board) }
                : {})}
            />
          ))}
        </ul>
      ) : error ? null : (
        <Loading of="boards" />
      )}
      {copied ? (
        <NewBoard
          projectId={projectId}
          {...(copied === 'none' ? {} : { original: copied })}
          onClose={() => setCopied(undefined)}
        />
      ) : null}
      {deleted ? (
        <Confirm
          title={`Delete ${deleted.displayName}`}
          action="Delete the board"
          onConfirm={() => remove(deleted)}
          onClose={() => setDeleted(undefined)}
        >
          <p>Its tiles are gone and its links end within a second. The events stay.</p>
        </Confirm>
      ) : null}
    </>
  );
}

function BoardRow(props: {
  projectId: string;
  board: Dashboard;
  onCopy?: () => void;
  onDelete?: () => void;
}) {
  const { board, onCopy, onDelete } = props;
  return (
    <li class="card">
      <a href={`/p/${props.projectId}/boards/${board.id}`}>{board.displayName}</a>
      <small>
        {board.builtIn ? (
          'Built in: every project has it'
        ) : (
          <>
            Changed <Time at={board.updateTime} />
          </>
        )}
      </small>
      {onCopy && onDelete ? (
        <Menu label={`More: ${board.displayName}`} align="end" class="quiet" button="⋯">
          <MenuItem onChoose={onCopy}>Duplicate</MenuItem>
          {board.builtIn ? null : (
            <MenuItem isDanger onChoose={onDelete}>
              Delete
            </MenuItem>
          )}
        </Menu>
      ) : null}
    </li>
  );
}

/** Makes a board, or a copy of one, and opens it. */
export function NewBoard(props: { projectId: string; original?: Dashboard; onClose: () => void }) {
  const { projectId, original } = props;
  const [name, setName] = useState(original ? `${original.displayName}, copy` : '');
  const create = async (): Promise<void> => {
    const { dashboard } = await dashboards.create(
      { displayName: name, ...(original ? { copyFrom: original.id } : {}) },
      inProject(projectId),
    );
    forget('board');
    props.onClose();
    navigate(`/p/${projectId}/boards/${dashboard?.id ?? ''}${original ? '' : '?edit=yes'}`);
  };
  return (
    <Dialog
      title={original ? `Duplicate ${original.displayName}` : 'New board'}
      onClose={props.onClose}
    >
      <Form action={original ? 'Duplicate' : 'Create board'} send={create} isReady={name !== ''}>
        <Field label="Name" value={name} onValue={setName} maxLength={150} required />
      </Form>
    </Dialog>
  );
}
