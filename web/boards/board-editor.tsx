// The draft of a board. It is saved whole, on the revision that it began with: nobody's change is overwritten unseen.

import { Code, ConnectError } from '@connectrpc/connect';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type {
  Dashboard,
  RenderResponse,
  Tile,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { inProject } from '../client.ts';
import { Check, Field } from '../fields/field.tsx';
import { BotsChip, botsWhere } from '../filter/bots.tsx';
import { hasCookieless } from '../filter/cookieless.tsx';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { boardTime } from '../question/board-time.ts';
import { forget } from '../resource.ts';
import { address, setQuery } from '../router.ts';
import { hasRange, RangePicker, useRange } from '../time/range.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { toast } from '../ui/toasts.tsx';
import { dashboards, savedRangeName } from './board-data.ts';
import { BoardTiles } from './board-tiles.tsx';
import { type Draft, type DraftTile, draftOf, withPlace, withTile } from './draft.ts';

/** The fields of a question are the largest part of the editor, and moving a tile needs none of them. */
const loadTileDialog = async () => (await import('./tile-dialog.tsx')).TileDialog;
/** Hardly anybody saves a board that somebody else has just saved. */
const loadConflict = async () => (await import('./conflict.tsx')).Conflict;

/** A tile of the draft, or the kind of a new one. */
type Edited = DraftTile | 'question' | 'text';
type Change = (changes: Partial<Draft>) => void;

const leave = (): void => setQuery({ edit: undefined }, { replace: true });

export function BoardEditor(props: {
  projectId: string;
  board: RenderResponse;
  onSaved: () => void;
}) {
  const { projectId, board } = props;
  const [base] = useState(board.dashboard);
  const [draft, setDraft] = useState<Draft | undefined>(base && draftOf(base));
  const [isRangeKept, setRangeKept] = useState(false);
  const [edited, setEdited] = useState<Edited>();
  const [fault, setFault] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const [newest, setNewest] = useState<Dashboard>();
  const range = useRange();
  const seen = useSeenVisitors(projectId);
  useWarning();
  if (!draft || !base) return null;
  const change: Change = (changes) => setDraft({ ...draft, ...changes });
  const decide = (decided: Draft): void => {
    setDraft(decided);
    setNewest(undefined);
  };
  const save = async (): Promise<void> => {
    setSaving(true);
    setFault(undefined);
    try {
      const timeRange = isRangeKept ? boardTime(address.peek().query, range) : undefined;
      await saveDraft(projectId, base.id, draft, timeRange);
      props.onSaved();
      leave();
    } catch (cause) {
      const isBehind = ConnectError.from(cause).code === Code.Aborted;
      if (isBehind) setNewest(await current(projectId, base.id));
      else setFault(cause);
    } finally {
      setSaving(false);
    }
  };
  const keep = hasRange(address.value.query) ? (
    <Check label={`Keep this range: ${range.name}`} checked={isRangeKept} onValue={setRangeKept} />
  ) : null;
  return (
    <div class="board">
      {headOf(base, board, isSaving, isSaving || draft.displayName === '' ? undefined : save)}
      <Fault cause={fault} />
      {fieldsOf(draft, change, setEdited, keep)}
      {tilesOf(projectId, board, draft, change, setEdited)}
      {edited && tileFields(draft, change, edited, setEdited, hasCookieless(seen) ?? false)}
      {newest ? (
        <Loaded
          load={loadConflict}
          name="the other changes"
          with={{
            ...{ before: base, newest },
            onKeep: () => decide(onto(draft, newest)),
            onTake: () => {
              forget('board');
              props.onSaved();
              decide(draftOf(newest));
            },
          }}
        />
      ) : null}
    </div>
  );
}

async function saveDraft(
  projectId: string,
  id: string,
  draft: Draft,
  timeRange: ReturnType<typeof boardTime> | undefined,
): Promise<void> {
  const { displayName, description, revision } = draft;
  const tiles = draft.tiles.map(({ tile }) => tile);
  const range = timeRange === undefined ? {} : { timeRange };
  await dashboards.upsert(
    { id, displayName, description, revision, tiles, ...range },
    inProject(projectId),
  );
  forget('board');
  toast('Saved');
}

/** `save` is undefined where nothing may be saved now. */
function headOf(
  base: Dashboard,
  board: RenderResponse,
  isSaving: boolean,
  save: (() => Promise<void>) | undefined,
) {
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>Edit {base.displayName}</h1>
      <div class="row">
        <BotsChip bots={botsWhere(board.hasBots ?? false)} />
        <RangePicker saved={savedRangeName(base, board.time?.timezone)} />
        <button type="button" onClick={leave}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={!save} onClick={() => void save?.()}>
          {isSaving ? 'One moment…' : 'Save'}
        </button>
      </div>
    </div>
  );
}

function fieldsOf(
  draft: Draft,
  change: Change,
  add: (kind: 'question' | 'text') => void,
  keep: ComponentChildren,
) {
  return (
    <section class="card board-fields" aria-label="About the board">
      <div class="row">
        <Field
          label="Name"
          value={draft.displayName}
          onValue={(displayName) => change({ displayName })}
          maxLength={150}
          required
        />
        <Field
          label="What it is for"
          value={draft.description}
          onValue={(description) => change({ description })}
          maxLength={2000}
        />
      </div>
      <div class="row">
        <button type="button" onClick={() => add('question')}>
          <Icon name="chart" />
          Add insight
        </button>
        <button type="button" onClick={() => add('text')}>
          <Icon name="edit" />
          Add text
        </button>
        {keep}
      </div>
      <p class="hint">
        Drag a tile by its handle, or press Tab to the handle: arrow keys move the tile, Shift with
        arrow keys sizes it.
      </p>
    </section>
  );
}

function tilesOf(
  projectId: string,
  board: RenderResponse,
  { tiles }: Draft,
  change: Change,
  edit: (tile: DraftTile) => void,
) {
  return (
    <BoardTiles
      projectId={projectId}
      board={board}
      tiles={tiles}
      onPlace={(key, place) => change({ tiles: withPlace(tiles, key, place) })}
      toolsOf={(one) => (
        <TileTools
          title={one.tile.title}
          onEdit={() => edit(one)}
          onRemove={() => change({ tiles: tiles.filter(({ key }) => key !== one.key) })}
        />
      )}
    />
  );
}

/** Of the tile that is edited, or of a new one. */
function tileFields(
  { tiles }: Draft,
  change: Change,
  edited: Edited,
  edit: (edited: Edited | undefined) => void,
  hasVisitors: boolean,
) {
  const onClose = (): void => edit(undefined);
  const onPut = (tile: Tile): void => {
    onClose();
    change({
      tiles:
        typeof edited === 'object'
          ? tiles.map((one) => (one.key === edited.key ? { ...one, tile } : one))
          : withTile(tiles, tile),
    });
  };
  return (
    <Loaded
      load={loadTileDialog}
      name="the fields"
      with={{ edited, hasCookieless: hasVisitors, onPut, onClose }}
    />
  );
}

function TileTools(props: { title: string; onEdit: () => void; onRemove: () => void }) {
  const name = props.title || 'tile';
  return (
    <span class="row tight">
      <button type="button" class="quiet" aria-label={`Edit ${name}`} onClick={props.onEdit}>
        <Icon name="edit" />
      </button>
      <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={props.onRemove}>
        <Icon name="trash" />
      </button>
    </span>
  );
}

async function current(projectId: string, id: string): Promise<Dashboard | undefined> {
  return (await dashboards.get({ id }, inProject(projectId))).dashboard;
}

/** The draft on another revision: tiles that it no longer has are new again. */
function onto(draft: Draft, { revision, tiles }: Dashboard): Draft {
  const known = new Set(tiles.map(({ id }) => id));
  return {
    ...draft,
    revision,
    tiles: draft.tiles.map((one) =>
      known.has(one.tile.id) ? one : { ...one, tile: { ...one.tile, id: '' } },
    ),
  };
}

/** A draft is lost with its page: the browser asks first. */
function useWarning(): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, []);
}
