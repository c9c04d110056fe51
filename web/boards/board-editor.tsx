// The draft of a board. It is saved whole, on the revision that it began with: nobody's change is overwritten unseen.

import { Code, ConnectError } from '@connectrpc/connect';
import { useEffect, useState } from 'preact/hooks';
import type {
  Dashboard,
  RenderResponse,
  Tile,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { inProject } from '../client.ts';
import { Check, Field } from '../fields/field.tsx';
import { BotsNote, botsWhere } from '../filter/bots.tsx';
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

export function BoardEditor(props: {
  projectId: string;
  board: RenderResponse;
  onSaved: () => void;
}) {
  const { projectId, board } = props;
  const [base] = useState(board.dashboard);
  const [draft, setDraft] = useState<Draft | undefined>(base && draftOf(base));
  const [isRangeKept, setRangeKept] = useState(false);
  const [edited, setEdited] = useState<DraftTile | 'question' | 'text'>();
  const [fault, setFault] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const [newest, setNewest] = useState<Dashboard>();
  const range = useRange();
  const seen = useSeenVisitors(projectId);
  useWarning();
  if (!draft || !base) return null;
  const change = (changes: Partial<Draft>): void => setDraft({ ...draft, ...changes });
  const leave = (): void => setQuery({ edit: undefined }, { replace: true });
  const save = async (): Promise<void> => {
    setSaving(true);
    setFault(undefined);
    try {
      const { displayName, description, revision } = draft;
      const tiles = draft.tiles.map(({ tile }) => tile);
      const timeRange = isRangeKept ? { timeRange: boardTime(address.peek().query, range) } : {};
      await dashboards.upsert(
        { id: base.id, displayName, description, revision, tiles, ...timeRange },
        inProject(projectId),
      );
      forget('board');
      toast('Saved');
      props.onSaved();
      leave();
    } catch (cause) {
      if (ConnectError.from(cause).code === Code.Aborted)
        setNewest(await current(projectId, base.id));
      else setFault(cause);
    } finally {
      setSaving(false);
    }
  };
  const put = (tile: Tile): void => {
    setEdited(undefined);
    change({
      tiles:
        typeof edited === 'object'
          ? draft.tiles.map((one) => (one.key === edited.key ? { ...one, tile } : one))
          : withTile(draft.tiles, tile),
    });
  };
  return (
    <div class="board">
      <div class="page-head">
        <h1 tabIndex={-1}>Edit {base.displayName}</h1>
        <div class="row">
          <BotsNote bots={botsWhere(board.hasBots ?? false)} />
          <RangePicker saved={savedRangeName(base, board.time?.timezone)} />
          <button type="button" onClick={leave}>
            Cancel
          </button>
          <button
            type="button"
            class="primary"
            disabled={isSaving || draft.displayName === ''}
            onClick={() => void save()}
          >
            {isSaving ? 'One moment…' : 'Save'}
          </button>
        </div>
      </div>
      <Fault cause={fault} />
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
          <button type="button" onClick={() => setEdited('question')}>
            <Icon name="chart" />
            Add a question
          </button>
          <button type="button" onClick={() => setEdited('text')}>
            <Icon name="edit" />
            Add a text
          </button>
          {hasRange(address.value.query) ? (
            <Check
              label={`Keep this range: ${range.name}`}
              checked={isRangeKept}
              onValue={setRangeKept}
            />
          ) : null}
        </div>
        <p class="hint">
          Drag a tile by its handle, or press Tab to the handle: arrow keys move the tile, Shift
          with arrow keys sizes it.
        </p>
      </section>
      <BoardTiles
        projectId={projectId}
        board={board}
        tiles={draft.tiles}
        onPlace={(key, place) => change({ tiles: withPlace(draft.tiles, key, place) })}
        toolsOf={(one) => (
          <TileTools
            title={one.tile.title}
            onEdit={() => setEdited(one)}
            onRemove={() => change({ tiles: draft.tiles.filter(({ key }) => key !== one.key) })}
          />
        )}
      />
      {edited ? (
        <Loaded
          load={loadTileDialog}
          name="the fields"
          with={{
            ...{ edited, hasCookieless: hasCookieless(seen) ?? false },
            ...{ onPut: put, onClose: () => setEdited(undefined) },
          }}
        />
      ) : null}
      {newest ? (
        <Loaded
          load={loadConflict}
          name="the other changes"
          with={{
            before: base,
            newest,
            onKeep: () => {
              setDraft(onto(draft, newest));
              setNewest(undefined);
            },
            onTake: () => {
              forget('board');
              props.onSaved();
              setDraft(draftOf(newest));
              setNewest(undefined);
            },
          }}
        />
      ) : null}
    </div>
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
