// One board: read, or edited as a draft that is saved whole.

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { RenderResponse } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { narrow, useMedia } from '../browser/media.ts';
import { usePlot } from '../charts/plot-code.ts';
import { type PartTables, partIn } from '../exports/shown-tables.ts';
import { BotsChip, botsWhere } from '../filter/bots.tsx';
import { segmentsOfAddress, setSegments } from '../filter/known-segments.ts';
import { SegmentBar } from '../filter/segment-bar.tsx';
import type { Resource } from '../resource.ts';
import { Freshness } from '../results/provenance.tsx';
import { BoardFault } from '../retries/busy-note.tsx';
import { HeadInSight } from '../retries/head-in-sight.tsx';
import type { PageProps } from '../router.ts';
import { address, setQuery } from '../router.ts';
import { PrintedTime } from '../time/printed-time.tsx';
import { RangePicker } from '../time/range.tsx';
import { formatDay } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { savedRangeName, useBoard } from './board-data.ts';
import { BoardTiles } from './board-tiles.tsx';
import { draftOf } from './draft.ts';
import { ExportButtons, PrintButton } from './sharing/export-button.tsx';
import '../styles/boards.css';

export function Page({ params }: PageProps) {
  usePlot();
  const projectId = params['project'] ?? '';
  const answer = useBoard(projectId, params['board'] ?? '');
  const { data, error, reload } = answer;
  const isEdited = address.value.query.get('edit') === 'yes' && hasRole(Role.MEMBER);
  if (!data?.dashboard)
    return (
      <>
        <div class="page-head">
          <h1 tabIndex={-1}>Board</h1>
          {error ? <RangePicker /> : null}
        </div>
        {error ? <Fault cause={error} retry={reload} /> : <Loading of="the board" />}
      </>
    );
  if (isEdited && !data.dashboard.builtIn)
    return (
      <Loaded
        load={loadEditor}
        name="the editor"
        with={{ projectId, board: data, onSaved: reload }}
      />
    );
  return <ReadBoard projectId={projectId} board={data} answer={answer} />;
}

/** Links and the fields of questions are loaded when they are first needed: most readers of a board only read. */
const loadShareDialog = async () => (await import('./sharing/share-dialog.tsx')).ShareDialog;
const loadCopy = async () => (await import('./boards-page.tsx')).NewBoard;
const loadEditor = async () => (await import('./board-editor.tsx')).BoardEditor;

function ReadBoard(props: {
  projectId: string;
  board: RenderResponse;
  answer: Resource<RenderResponse>;
}) {
  const { projectId, board, answer } = props;
  const [open, setOpen] = useState<'share' | 'copy'>();
  const full = useRef<HTMLDivElement>(null);
  const tables = useRef(new Map<string, PartTables>()).current;
  const { dashboard } = board;
  if (!dashboard) return null;
  const close = (): void => setOpen(undefined);
  const isEmpty = dashboard.tiles.length === 0;
  return (
    <div class="board" ref={full} aria-busy={answer.isLoading}>
      <HeadInSight name={dashboard.displayName} isUpdating={answer.isLoading}>
        <BotsChip bots={botsWhere(board.hasBots ?? false)} />
        <SegmentBar chosen={segmentsOfAddress()} onChange={setSegments} />
        <RangePicker saved={savedRangeName(dashboard, board.time?.timezone)} />
      </HeadInSight>
      <div class="row end no-print">
        <Folded>
          <FullScreenButton show={async () => full.current?.requestFullscreen()} />
          <ExportButtons
            {...{ name: dashboard.displayName, isEmpty }}
            take={({ exportBoard }) => exportBoard(board, (id) => tables.get(id))}
          />
          <PrintButton />
          <MailLink projectId={projectId} boardId={dashboard.id} />
        </Folded>
        <ShareAndEdit isBuiltIn={dashboard.builtIn} open={setOpen} />
      </div>
      <Subtitle board={board} />
      <BoardFault of={answer} />
      <BoardTiles
        projectId={projectId}
        board={board}
        tiles={draftOf(dashboard).tiles}
        tablesOf={(id) => partIn(tables, id)}
      />
      {isEmpty ? <EmptyBoard projectId={projectId} /> : <Fresh board={board} />}
      {open === 'share' ? (
        <Loaded
          load={loadShareDialog}
          name="the links"
          with={{ projectId, board: dashboard, onClose: close }}
        />
      ) : null}
      {open === 'copy' ? (
        <Loaded
          load={loadCopy}
          name="the fields"
          with={{ projectId, original: dashboard, onClose: close }}
        />
      ) : null}
    </div>
  );
}

/** What a reader may do by their role. */
function ShareAndEdit(props: { isBuiltIn: boolean; open: (what: 'share' | 'copy') => void }) {
  const { isBuiltIn, open } = props;
  return (
    <>
      {hasRole(Role.ADMIN) ? (
        <button type="button" onClick={() => open('share')}>
          <Icon name="share" />
          Share
        </button>
      ) : null}
      {hasRole(Role.MEMBER) ? (
        <button
          type="button"
          class="primary"
          onClick={() => (isBuiltIn ? open('copy') : setQuery({ edit: 'yes' }))}
        >
          <Icon name="edit" />
          {isBuiltIn ? 'Edit a copy' : 'Edit'}
        </button>
      ) : null}
    </>
  );
}

function Subtitle({ board }: { board: RenderResponse }) {
  const { dashboard, time } = board;
  return (
    <>
      {time ? (
        <PrintedTime
          of={board}
          days={[formatDay(time.firstDay), formatDay(time.lastDay)]}
          zone={time.timezone || 'UTC'}
        />
      ) : null}
      {dashboard?.description ? <p class="hint">{dashboard.description}</p> : null}
    </>
  );
}

/** On a phone behind one button, which leaves the screen to the tiles. */
function Folded({ children }: { children: ComponentChildren }) {
  const isNarrow = useMedia(narrow);
  const [isOpen, setOpen] = useState(false);
  if (!isNarrow) return <>{children}</>;
  return (
    <>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="down" />
        More
      </button>
      {isOpen ? children : null}
    </>
  );
}

/** A browser may refuse it. */
function FullScreenButton({ show }: { show: () => Promise<void> }) {
  return (
    <button type="button" onClick={() => void show().catch(() => undefined)}>
      <Icon name="expand" />
      Full screen
    </button>
  );
}

function MailLink({ projectId, boardId }: { projectId: string; boardId: string }) {
  if (!hasRole(Role.MEMBER)) return null;
  return (
    <a class="button" href={`/p/${projectId}/reports?board=${boardId}`}>
      <Icon name="clock" />
      Mail it
    </a>
  );
}

function Fresh({ board }: { board: RenderResponse }) {
  const answers = board.results.flatMap(({ outcome }) =>
    outcome.case === 'insight' ? [outcome.value] : [],
  );
  if (answers.length === 0) return null;
  const zone = board.time?.timezone || 'UTC';
  return (
    <p class="hint">
      <Freshness answers={answers} zone={zone} />. Days are those of {zone}.
    </p>
  );
}

function EmptyBoard({ projectId }: { projectId: string }) {
  return (
    <section class="empty">
      <h2>This board has no tiles</h2>
      <p>Press Edit to add an insight or a text, or create an insight and save it here.</p>
      <a class="button" href={`/p/${projectId}/insights/trends`}>
        Create insight
      </a>
    </section>
  );
}
