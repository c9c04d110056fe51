// SQL over a project's events, profiles and visits: the statement, what it may read, what was run before, its answer.

import { Code, ConnectError } from '@connectrpc/connect';
import { useRef, useState } from 'preact/hooks';
import { dashboards } from '../boards/board-data.ts';
import { inProject } from '../client.ts';
import { useResource } from '../resource.ts';
import { address, type PageProps } from '../router.ts';
import { session } from '../session.ts';
import { RangePicker, useRange } from '../time/range.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { AnswerView } from './answer/answer-view.tsx';
import { FailureNote } from './answer/failure-note.tsx';
import { type Edit, offsetOf } from './editor/editor-keys.ts';
import { NamesAndHistory } from './editor/names-and-history.tsx';
import { apply, SqlEditor } from './editor/sql-editor.tsx';
import { asksForRange, rangeParams } from './range-params.ts';
import type { OpenedTile } from './save-statement.tsx';
import type { Answer } from './statement-client.ts';
import type { Place } from './statement-failure.ts';
import { historyKey, keepPast, loadPast, withStatement } from './statement-history.ts';
import { type RunState, useStatement } from './use-statement.ts';
import '../styles/sql.css';

const starter = `SELECT
  toDate(occur_time) AS day,
  count() AS events,
  uniqExact(distinct_id) AS visitors
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
        <WithTile projectId={projectId} historyKey={key} />
      ) : (
        <section class="empty">
          <h2>Members write SQL</h2>
          <p>
            A statement may read every event of the project. Ask an admin of the organization for
            the role of a member, or use Insights.
          </p>
        </section>
      )}
    </>
  );
}

const loadSaveDialog = async () => (await import('./save-statement.tsx')).SaveStatement;

/** With the statement of the address's tile, where it has one. */
function WithTile({ projectId, historyKey: key }: { projectId: string; historyKey: string }) {
  const { query } = address.value;
  const [boardId, tileId] = [query.get('board'), query.get('tile')];
  const from = boardId && tileId ? `${boardId} ${tileId}` : undefined;
  const { data, error, reload } = useResource<OpenedTile>(
    from && `board tile ${projectId} ${from}`,
    async (end) => {
      const { dashboard } = await dashboards.get({ id: boardId ?? '' }, inProject(projectId, end));
      const tile = dashboard?.tiles.find(({ id }) => id === tileId);
      if (tile?.content.case !== 'statement') throw noSuchTile();
      return { boardId: boardId ?? '', tile, ...tile.content.value };
    },
  );
  if (from && error) return <Fault cause={error} retry={reload} />;
  if (from && !data) return <Loading of="the tile" />;
  const whose = from ? `${key} ${from}` : key;
  return (
    <Workbench
      key={whose}
      projectId={projectId}
      historyKey={key}
      draftKey={whose}
      opened={from ? data : undefined}
    />
  );
}

function noSuchTile(): ConnectError {
  return new ConnectError('the board has no such tile, or not any more', Code.NotFound);
}

/** What this reader has run in this project. */
function usePast(key: string) {
  const [past, setPast] = useState(() => loadPast(key));
  const keep = (next: ReturnType<typeof loadPast>): void => {
    keepPast(key, next);
    setPast(next);
  };
  const remember = (sql: string, answer: Answer): void => {
    const rows = answer.kind === 'rows' ? answer.rows.length : null;
    keep(withStatement(loadPast(key), { sql, atMs: Date.now(), rows }));
  };
  return { past, remember, clear: () => keep([]) };
}

function Workbench(props: {
  projectId: string;
  historyKey: string;
  draftKey: string;
  opened: OpenedTile | undefined;
}) {
  const { projectId, historyKey: key, draftKey, opened } = props;
  const { past, remember, clear } = usePast(key);
  const [sql, setSql] = useState(
    () => drafts.get(draftKey) ?? opened?.sql ?? past[0]?.sql ?? starter,
  );
  const [isSaving, setSaving] = useState(false);
  const range = useRange();
  const area = useRef<HTMLTextAreaElement>(null);
  const { state, run, cancel } = useStatement(
    projectId,
    (text) => rangeParams(text, range),
    remember,
  );
  const isRunning = state.kind === 'running';
  const change = (edit: (field: HTMLTextAreaElement) => Edit): void => {
    if (area.current) apply(area.current, edit(area.current));
  };
  const write = (text: string): void => {
    drafts.set(draftKey, text);
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
          hasRange={asksForRange(sql)}
          saveAs={opened ? `Save “${opened.tile.title}”` : 'Save to a board'}
          onSave={() => setSaving(true)}
        />
        {isSaving ? (
          <Loaded
            load={loadSaveDialog}
            name="the boards"
            with={{
              ...{ projectId, sql, opened },
              onSaved: () => drafts.delete(draftKey),
              onClose: () => setSaving(false),
            }}
          />
        ) : null}
        <Outcome state={state} onPlace={goTo} />
      </div>
      <NamesAndHistory projectId={projectId} past={past} onChange={change} onClear={clear} />
    </div>
  );
}

/** One button, so that the focus stays on it. */
function RunRow(props: {
  isRunning: boolean;
  isEmpty: boolean;
  onPress: () => void;
  /** Whether the statement asks for a range. */
  hasRange: boolean;
  saveAs: string;
  onSave: () => void;
}) {
  const { isRunning, isEmpty, onPress, hasRange, saveAs, onSave } = props;
  return (
    <div class="row between">
      <p class="hint" id="sql-keys">
        <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it. <kbd>Tab</kbd> indents; <kbd>Esc</kbd>, then{' '}
        <kbd>Tab</kbd> leaves the field. Times are in UTC.
      </p>
      <div class="row">
        {hasRange ? <RangePicker /> : null}
        <button
          type="button"
          class={isRunning ? '' : 'primary'}
          disabled={!isRunning && isEmpty}
          onClick={onPress}
        >
          {isRunning ? 'Cancel' : 'Run'}
        </button>
        <button type="button" disabled={isEmpty} onClick={onSave}>
          {saveAs}
        </button>
      </div>
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
