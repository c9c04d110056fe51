// Events as they come, with what becomes of each. Space pauses; `?wall=1` is for a screen on a wall.

import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import { narrow, useMedia } from '../browser/media.ts';
import { EventDrawer } from '../event/event-drawer.tsx';
import { useFeed } from '../feed/use-feed.ts';
import {
  type Condition,
  readConditions,
  toPropertyFilter,
  writeConditions,
} from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { KindPicker } from '../filter/kind-picker.tsx';
import type { PageProps } from '../router.ts';
import { address, setQuery } from '../router.ts';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { useFigures } from './figures.ts';
import { LiveFigures } from './live-figures.tsx';
import { LivePlaces } from './live-places.tsx';
import { hasWords, type LiveRow } from './live-rows.ts';
import { type LiveColumn, LiveTable } from './live-table.tsx';
import { minuteOf } from './minute.ts';
import { useLiveRows } from './use-live.ts';
import { useSpace, useWall } from './wall.ts';
import '../styles/live.css';

const allColumns: readonly LiveColumn[] = ['who', 'page', 'place'];
/** Read from afar. */
const wallColumns: readonly LiveColumn[] = ['place'];
const noColumns: readonly LiveColumn[] = [];

type ShowFlashes = (codes: readonly string[]) => void;

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const { query } = address.value;
  const kinds = (query.get('kind') ?? '').split(',').filter(Boolean);
  const filterText = query.get('filters') ?? '';
  const search = query.get('text') ?? '';
  const isWall = query.get('wall') === '1';
  const conditions = useMemo(() => readConditions(filterText), [filterText]);
  const [isPaused, setPaused] = useState(false);
  const [opened, setOpened] = useState<LiveRow>();
  const { flashes, onFresh } = useFlashes();
  const asked = { kinds, filters: conditions.map(toPropertyFilter) };
  const { rows, waiting, fault } = useLiveRows(projectId, asked, isPaused, onFresh);
  const feed = useFeed(projectId);
  const asOfLast = useFigures(projectId, feed);
  const minute = feed && minuteOf(feed.minute.value, feed.isLive.value, asOfLast?.before);
  // They are asked for apart from the stream, and would stay as they were where nothing answers.
  const figures = minute && asOfLast;
  const areBotsCounted = query.get('bots') === '1';
  const shown = useMemo(
    () => (search ? rows.filter((row) => hasWords(row, search)) : rows),
    [rows, search],
  );
  useSpace(() => setPaused((last) => !last));
  useWall(isWall, () => setQuery({ wall: undefined }));
  const isNarrow = useMedia(narrow);
  const columns = isNarrow ? noColumns : isWall ? wallColumns : allColumns;
  const isNarrowed = kinds.length + conditions.length > 0;
  return (
    <div class="live" data-wall={isWall}>
      <Head isPaused={isPaused} waiting={waiting} isWall={isWall} onPause={setPaused} />
      <LiveFigures
        projectId={projectId}
        minute={minute}
        figures={figures}
        areBotsCounted={areBotsCounted}
      />
      <section class="live-events" aria-label="Events">
        {isWall ? null : <Conditions kinds={kinds} conditions={conditions} search={search} />}
        <Fault cause={fault} />
        {shown.length > 0 ? (
          <LiveTable rows={shown} columns={columns} onOpen={setOpened} />
        ) : (
          <Waiting projectId={projectId} isNarrowed={isNarrowed || search !== ''} />
        )}
        <p class="hint live-note">{note(minute?.notShown ?? 0, conditions.length > 0)}</p>
      </section>
      <LivePlaces figures={figures} areBotsCounted={areBotsCounted} flashes={flashes} />
      {opened?.event ? (
        <EventDrawer
          event={opened.event}
          projectId={projectId}
          onClose={() => setOpened(undefined)}
        />
      ) : null}
    </div>
  );
}

function Head(props: {
  isPaused: boolean;
  waiting: number;
  isWall: boolean;
  onPause: (isPaused: boolean) => void;
}) {
  const { isPaused, waiting, isWall, onPause } = props;
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>Live</h1>
      <div class="row">
        <button type="button" aria-pressed={isPaused} onClick={() => onPause(!isPaused)}>
          <Icon name={isPaused ? 'play' : 'pause'} />
          {isPaused ? (waiting > 0 ? `Resume (${figure(waiting)} new)` : 'Resume') : 'Pause'}
        </button>
        <button type="button" onClick={() => setQuery({ wall: isWall ? undefined : '1' })}>
          <Icon name={isWall ? 'close' : 'expand'} />
          {isWall ? 'Exit wall screen' : 'Wall screen'}
        </button>
      </div>
    </div>
  );
}

/** What is listed. The figures and the map count everything. */
function Conditions(props: {
  kinds: readonly string[];
  conditions: readonly Condition[];
  search: string;
}) {
  const { kinds, conditions, search } = props;
  return (
    <div class="row live-filters">
      <KindPicker
        kinds={kinds}
        onChange={(next) => setQuery({ kind: next.join(',') || undefined })}
      />
      <FilterBar
        conditions={conditions}
        onChange={(next) => setQuery({ filters: writeConditions(next) })}
      />
      <input
        type="search"
        aria-label="Filter rows"
        placeholder="Filter rows"
        value={search}
        onInput={(event) =>
          setQuery({ text: event.currentTarget.value || undefined }, { replace: true })
        }
      />
    </div>
  );
}

/** What the list leaves out. Its room is kept, so that nothing jumps. */
function note(notShown: number, hasFilters: boolean): string {
  const parts = [
    notShown > 0
      ? `${figure(notShown)} more in the last second: all are counted, a part is listed.`
      : '',
    hasFilters ? 'Refused requests have no properties: with a filter they are not listed.' : '',
  ];
  return parts.filter(Boolean).join(' ') || '\u00a0';
}

/** Hands the countries of new events to the map. */
function useFlashes() {
  const show = useRef<ShowFlashes | undefined>(undefined);
  const flashes = useCallback((next: ShowFlashes) => {
    show.current = next;
    return () => {
      show.current = undefined;
    };
  }, []);
  const onFresh = useCallback((rows: readonly LiveRow[]) => {
    const codes = new Set(rows.map(({ country }) => country));
    codes.delete('');
    if (codes.size > 0) show.current?.([...codes]);
  }, []);
  return { flashes, onFresh };
}

function Waiting({ projectId, isNarrowed }: { projectId: string; isNarrowed: boolean }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLong(true), 2000);
    return () => window.clearTimeout(timer);
  }, []);
  return (
    <div class="empty live-table-empty" role="status">
      <p>
        <strong>Waiting for the next event.</strong> It appears here as soon as it arrives.
      </p>
      {isLong && isNarrowed ? (
        <p>
          Only events that meet the conditions above are listed.{' '}
          <button
            type="button"
            class="link"
            onClick={() => setQuery({ kind: undefined, filters: undefined, text: undefined })}
          >
            Clear filters
          </button>
        </p>
      ) : null}
      {isLong && !isNarrowed ? (
        <p>
          Nothing comes? <a href={`/p/${projectId}/setup`}>Setup</a> has the line for your page and
          says what goes wrong. <code>npm run demo</code> plays made-up visits in the demo project.
        </p>
      ) : null}
    </div>
  );
}
