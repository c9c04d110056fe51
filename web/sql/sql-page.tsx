// SQL over a project's events, profiles and visits: the statement, what it may read, what was run before, its answer.

import { useRef, useState } from 'preact/hooks';
import type { PageProps } from '../router.ts';
import { session } from '../session.ts';
import { hasRole, Role } from '../workspace.ts';
import { AnswerView } from './answer/answer-view.tsx';
import { FailureNote } from './answer/failure-note.tsx';
import { type Edit, inserted, offsetOf } from './editor/editor-keys.ts';
import { HistoryList } from './editor/history-list.tsx';
import { apply, SqlEditor } from './editor/sql-editor.tsx';
import { ViewList } from './editor/view-list.tsx';
import type { Answer } from './statement-client.ts';
import type { Place } from './statement-failure.ts';
import { historyKey, keepPast, loadPast, withStatement } from './statement-history.ts';
import { type RunState, useStatement } from './use-statement.ts';
import '../styles/sql.css';

const starter = `SELECT toDate(occur_time) AS day, count() AS events, uniqExact(distinct_id) AS visitors
FROM events
WHERE occur_time > now() - INTERVAL 30 DAY
GROUP BY day
ORDER BY day`;

/** Texts that were left without having been run, by the key of their history. They are gone with the tab. */
const drafts = new Map<string, string>();

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const now = session.value;
  const key = historyKey(now.state === 'signed-in' ? now.person.id : '', projectId);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>SQL</h1>
      </div>
      {hasRole(Role.MEMBER) ? (
        <Workbench key={key} projectId={projectId} historyKey={key} />
      ) : (
        <section class="empty">
          <h2>Members write SQL</h2>
          <p>
            A statement may read every event of the project. Ask an admin of the organization for
            the role of a member, or ask questions in Insights.
          </p>
        </section>
      )}
    </>
  );
}

function Workbench({ projectId, historyKey: key }: { projectId: string; historyKey: string }) {
  const [past, setPast] = useState(() => loadPast(key));
  const [sql, setSql] = useState(() => drafts.get(key) ?? past[0]?.sql ?? starter);
  const area = useRef<HTMLTextAreaElement>(null);
  const remember = (text: string, answer: Answer): void => {
    const rows = answer.kind === 'rows' ? answer.rows.length : null;
    const next = withStatement(loadPast(key), { sql: text, atMs: Date.now(), rows });
    keepPast(key, next);
    setPast(next);
  };
  const { state, run, cancel } = useStatement(projectId, remember);
  const isRunning = state.kind === 'running';
  const change = (edit: (field: HTMLTextAreaElement) => Edit): void => {
    if (area.current) apply(area.current, edit(area.current));
  };
  const write = (text: string): void => {
    drafts.set(key, text);
    setSql(text);
  };
  const goTo = (place: Place): void => {
    const at = offsetOf(sql, place);
    area.current?.focus();
    area.current?.setSelectionRange(at, Math.min(at + 1, sql.length));
  };
  const isOfText = state.kind === 'failed' && state.sql === sql;
  return (
    <div class="sql">
      <div class="stack">
        <SqlEditor
          area={area}
          value={sql}
          onValue={write}
          onRun={() => void run(sql)}
          badLine={isOfText ? state.failure.place?.line : undefined}
        />
        <RunRow
          isRunning={isRunning}
          isEmpty={sql.trim() === ''}
          onPress={() => (isRunning ? cancel() : void run(sql))}
        />
        <Outcome state={state} onPlace={goTo} />
      </div>
      <aside class="stack" aria-label="Names and history">
        <ViewList
          projectId={projectId}
          onName={(name, isMap) =>
            change((field) => inserted(field.selectionStart, field.selectionEnd, name, isMap))
          }
        />
        <HistoryList
          past={past}
          onChoose={(text) =>
            change(({ value }) => ({
              ...{ from: 0, to: value.length, text },
              selection: [text.length, text.length],
            }))
          }
          onClear={() => {
            keepPast(key, []);
            setPast([]);
          }}
        />
      </aside>
    </div>
  );
}

/** One button, so that the focus stays on it. */
function RunRow(props: { isRunning: boolean; isEmpty: boolean; onPress: () => void }) {
  const { isRunning, isEmpty, onPress } = props;
  return (
    <div class="row between">
      <p class="hint" id="sql-keys">
        <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it. <kbd>Tab</kbd> indents; <kbd>Esc</kbd>, then{' '}
        <kbd>Tab</kbd> leaves the field. Times are in UTC.
      </p>
      <button
        type="button"
        class={isRunning ? '' : 'primary'}
        disabled={!isRunning && isEmpty}
        onClick={onPress}
      >
        {isRunning ? 'Cancel' : 'Run'}
      </button>
    </div>
  );
}

function Outcome({ state, onPlace }: { state: RunState; onPlace: (place: Place) => void }) {
  switch (state.kind) {
    case 'none':
      return (
        <section class="empty">
          <h2>Nothing was run yet</h2>
          <p>
            One SELECT over the views beside, in ClickHouse’s SQL. It only reads, for 30 seconds at
            most; of its rows 10,000 are shown. The same address serves curl, Grafana, DBeaver and
            other clients with a private key.
          </p>
        </section>
      );
    case 'running':
      return (
        <p class="hint" role="status" aria-busy="true">
          Running… A statement may wait 20 seconds for its turn, and run for 30.
        </p>
      );
    case 'cancelled':
      return (
        <p class="hint" role="status">
          The statement was cancelled.
        </p>
      );
    case 'failed':
      return <FailureNote failure={state.failure} sql={state.sql} onPlace={onPlace} />;
    case 'answered':
      return <AnswerView answer={state.answer} />;
    default:
      return state satisfies never;
  }
}
