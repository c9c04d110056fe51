// Stored events, newest first: by range, kind, filters, person and visit, all of it in the address. Those of bots are
// left out unless it is asked for them; of one person or visit there is everything.

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useMemo, useState } from 'preact/hooks';
import { figure, plural } from '../../platform/words/figures.ts';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { download } from '../browser/download.ts';
import { narrow, useMedia } from '../browser/media.ts';
import { inProject } from '../client.ts';
import { EventDrawer } from '../event/event-drawer.tsx';
import { ExportMenu } from '../exports/export-menu.tsx';
import { activity } from '../feed/live-feed.ts';
import { focusNextChip } from '../fields/next-chip.ts';
import { type Bots, botsOf, withoutBots } from '../filter/bots.tsx';
import { readConditions, toPropertyFilter, writeConditions } from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { KindPicker } from '../filter/kind-picker.tsx';
import { segmentsOfAddress, setSegments } from '../filter/known-segments.ts';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { exportParams, writeSegments } from '../filter/segment-names.ts';
import { type Paged, usePages } from '../pages.ts';
import { address, setQuery } from '../router.ts';
import { RangePicker, useRange } from '../time/range.tsx';
import { currentZone } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { Table } from '../ui/table.tsx';
import { tableColumns } from './columns.tsx';
import { ColumnsDialog } from './columns-dialog.tsx';
import { NoEvents } from './no-events.tsx';
import { rowsCsv } from './rows-csv.ts';
import { type ColumnsState, useColumns } from './use-columns.ts';

const pageSize = 250;

export function StoredTab({ projectId }: { projectId: string }) {
  const { query } = address.value;
  const kinds = (query.get('kind') ?? '').split(',').filter(Boolean);
  const filterText = query.get('filters') ?? '';
  const segments = segmentsOfAddress();
  const [who = '', profileId = '', sessionId = ''] = ['who', 'profile', 'session'].map(
    (name) => query.get(name) ?? undefined,
  );
  const conditions = useMemo(() => readConditions(filterText), [filterText]);
  const seen = botsOf(useSeenVisitors(projectId), conditions);
  const bots = who || profileId || sessionId ? 'none' : seen;
  const asked = withoutBots(conditions, bots);
  const range = useRange();
  const columns = useColumns(projectId);
  const [opened, setOpened] = useState<ActivityEvent>();
  // A visit is short and may be of any day: it is shown whole.
  const timeRange = sessionId
    ? {}
    : { timeRange: { from: timestampFromDate(range.from), to: timestampFromDate(range.to) } };
  const params = {
    ...{ kinds: kinds.join(','), distinct_id: who, profile_id: profileId },
    ...exportParams(segments),
    ...(sessionId ? { session_id: sessionId } : momentsOf(range)),
  };
  const span = sessionId ? '' : `${range.from.getTime()} ${range.to.getTime()}`;
  const of = `${kinds} ${writeSegments(segments)} ${writeConditions(asked) ?? ''} ${who} ${profileId} ${sessionId} ${span}`;
  const key = bots && `events ${projectId} ${of}`;
  const list = usePages(key, async (pageToken, end) => {
    const { events, nextPageToken } = await activity.list(
      {
        ...{ kinds, filters: asked.map(toPropertyFilter), ...segments, ...timeRange },
        ...{ distinctId: who, profileId, sessionId, pageSize, pageToken },
      },
      inProject(projectId, end),
    );
    return { rows: events, next: nextPageToken };
  });
  return (
    <section class="stack events">
      <div class="row events-filters">
        <KindPicker
          kinds={kinds}
          onChange={(next) => setQuery({ kind: next.join(',') || undefined })}
        />
        <FilterBar
          conditions={conditions}
          bots={bots}
          onChange={(next) => setQuery({ filters: writeConditions(next) })}
        />
        <SegmentBar chosen={segments} onChange={setSegments} />
        <Only name="User" query="who" value={who} />
        <Only name="User" query="profile" value={profileId} />
        <Only name="Visit" query="session" value={sessionId} />
        <span class="grow" />
        <LoadAgain onPress={list.reload} />
        <ColumnsButton state={columns} />
        <ExportMenu
          {...{ projectId, what: 'events', conditions: asked, params }}
          onShown={() => downloadRows(list.rows, columns)}
        />
        {sessionId ? null : <RangePicker />}
      </div>
      <Fault cause={list.error} retry={list.reload} />
      <Rows {...{ list, columns, projectId, bots }} onOpen={setOpened} listKey={key} />
      {opened ? (
        <EventDrawer event={opened} projectId={projectId} onClose={() => setOpened(undefined)} />
      ) : null}
    </section>
  );
}

function LoadAgain({ onPress }: { onPress: () => void }) {
  return (
    <button type="button" aria-label="Refresh" title="Refresh" onClick={onPress}>
      <Icon name="refresh" />
    </button>
  );
}

function ColumnsButton({ state }: { state: ColumnsState }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="table" />
        Columns
      </button>
      {isOpen ? (
        <ColumnsDialog
          columns={state.columns}
          onChange={state.change}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}

function downloadRows(rows: readonly ActivityEvent[], { columns }: ColumnsState): void {
  download('events-shown.csv', 'text/csv', rowsCsv(rows, columns));
}

function momentsOf({ from, to }: { from: Date; to: Date }): { from: string; to: string } {
  return { from: from.toISOString(), to: to.toISOString() };
}

/** One person or visit, as a chip that can be taken away. */
function Only({ name, query, value }: { name: string; query: string; value: string }) {
  if (value === '') return null;
  return (
    <span class="chip">
      <span class="clip">
        {name}: {value.length > 24 ? `${value.slice(0, 8)}…` : value}
      </span>
      <button
        type="button"
        aria-label={`Remove: ${name}`}
        onClick={({ currentTarget }) => {
          focusNextChip(currentTarget);
          setQuery({ [query]: undefined });
        }}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}

function Rows(props: {
  list: Paged<ActivityEvent>;
  columns: ColumnsState;
  onOpen: (event: ActivityEvent) => void;
  listKey: string | undefined;
  projectId: string;
  bots: Bots;
}) {
  const { list } = props;
  const isNarrow = useMedia(narrow);
  if (list.rows.length === 0)
    return (
      <div class="events-room">
        {list.isLoading || !props.listKey ? (
          <Loading of="events" />
        ) : list.error ? null : (
          <NoEvents projectId={props.projectId} areBotsLeftOut={props.bots === 'left out'} />
        )}
      </div>
    );
  return (
    <>
      <Table
        key={props.listKey}
        label="Stored events, newest first"
        rows={list.rows}
        columns={tableColumns(props.columns, isNarrow, list.rows)}
        rowKey={({ eventId }) => eventId}
        onOpen={props.onOpen}
        onEnd={list.more}
        height="max(360px, calc(100dvh - 292px))"
      />
      <p class="hint" role="status">
        {list.hasMore
          ? `${figure(list.rows.length)} events loaded; the next ones come as you scroll.`
          : `${plural(list.rows.length, 'event')}: all of them.`}{' '}
        Times are in {currentZone()}.
      </p>
    </>
  );
}
