// The saved questions of a project: opened, renamed, copied to a board and deleted here.

import { useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import { Field } from '../fields/field.tsx';
import { questionHref } from '../question/question-link.ts';
import { forget, useResource } from '../resource.ts';
import { idOfDrawing } from '../results/drawings/tile-drawings.ts';
import { address, type PageProps, setQuery } from '../router.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';
import { CopyDialog, DeleteDialog, RenameDialog } from './question-dialogs.tsx';
import { loadQuestions } from './questions-client.ts';
import { isMeant, type SavedQuestion } from './saved-questions.ts';
import '../styles/boards.css';

type Change = { kind: 'rename' | 'copy' | 'delete'; question: SavedQuestion };

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const { data, error, reload } = useResource(`board questions ${projectId}`, (end) =>
    loadQuestions(projectId, end),
  );
  const [change, setChange] = useState<Change>();
  const find = address.value.query.get('find') ?? '';
  const shown = data?.filter((one) => isMeant(one, find)) ?? [];
  const mayChange = hasRole(Role.MEMBER);
  const done = (text: string): void => {
    setChange(undefined);
    forget('board');
    toast(text);
    reload();
  };
  const dialog = { projectId, onClose: () => setChange(undefined), onDone: done };
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Saved insights</h1>
        <a class="button" href={`/p/${projectId}/insights/trends`}>
          Create insight
        </a>
      </div>
      <p class="hint">Insights that were saved to the boards of this project.</p>
      <Fault cause={error} retry={reload} />
      {data && data.length > 0 ? (
        <>
          <Field
            label="Search"
            type="search"
            placeholder="A name, a form, a board"
            value={find}
            onValue={(text) => setQuery({ find: text || undefined })}
          />
          <p class="hint" role="status">
            {plural(shown.length, 'insight')}
          </p>
          <ul class="board-list">
            {shown.map((question) => (
              <QuestionRow
                key={question.key}
                {...{ projectId, question }}
                {...(mayChange ? { onChange: (kind) => setChange({ kind, question }) } : {})}
              />
            ))}
          </ul>
        </>
      ) : data ? (
        <section class="empty">
          <h2>None yet</h2>
          <p>Save an insight to a board, under a name; then it is here.</p>
        </section>
      ) : error ? null : (
        <Loading of="saved insights" />
      )}
      {change?.kind === 'rename' ? <RenameDialog {...dialog} question={change.question} /> : null}
      {change?.kind === 'copy' ? <CopyDialog {...dialog} question={change.question} /> : null}
      {change?.kind === 'delete' ? <DeleteDialog {...dialog} question={change.question} /> : null}
    </>
  );
}

function QuestionRow(props: {
  projectId: string;
  question: SavedQuestion;
  onChange?: (kind: Change['kind']) => void;
}) {
  const { projectId, question, onChange } = props;
  const { name, form, spec, boards } = question;
  const drawing = idOfDrawing(boards[0]?.tile.drawing ?? 0);
  return (
    <li class="card">
      <a href={questionHref({ projectId, spec, drawing, filterGroups: [], time: {} }) ?? ''}>
        {name}
      </a>
      <small>
        {form}, on{' '}
        {boards.map((board, index) => (
          <span key={board.id}>
            {index > 0 ? ', ' : ''}
            <a href={`/p/${projectId}/boards/${board.id}`}>{board.name}</a>
          </span>
        ))}
      </small>
      {onChange ? (
        <Menu label={`More: ${name}`} align="end" class="quiet" button="⋯">
          <MenuItem onChoose={() => onChange('rename')}>Rename</MenuItem>
          <MenuItem onChoose={() => onChange('copy')}>Copy to a board</MenuItem>
          <MenuItem isDanger onChoose={() => onChange('delete')}>
            Delete
          </MenuItem>
        </Menu>
      ) : null}
    </li>
  );
}
