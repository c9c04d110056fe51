// The visits of a project, newest first: everybody's, also of cookieless visitors, who have no profile.

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { useState } from 'preact/hooks';
import { figure, plural } from '../../platform/words/figures.ts';
import type { Visit } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { narrow, useMedia } from '../browser/media.ts';
import { areBotsCounted, type Bots, botsOf } from '../filter/bots.tsx';
import {
  botProperty,
  type Condition,
  readConditions,
  toPropertyFilter,
  writeConditions,
} from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { segmentsOfAddress, setSegments } from '../filter/known-segments.ts';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { isEmpty, type SegmentFilter, writeSegments } from '../filter/segment-names.ts';
import { useOldRows, usePages } from '../pages.ts';
import { Updating } from '../retries/updating.tsx';
import type { PageProps } from '../router.ts';
import { address, setQuery } from '../router.ts';
import { DemoCommand } from '../setup/demo-command.tsx';
import { RangePicker, useRange } from '../time/range.tsx';
import { currentZone, toDate } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { Table } from '../ui/table.tsx';
import { allColumns, fewColumns } from './columns.tsx';
import { VisitDrawer } from './visit-drawer.tsx';
import { loadVisits } from './visits-client.ts';
import '../styles/events.css';

/** What the address asks for, and the visits that are loaded of it. */
function useVisits(projectId: string) {
  const { from, to } = useRange();
  const conditions = readConditions(address.value.query.get('filters') ?? '');
  const bots = botsOf(useSeenVisitors(projectId), conditions);
  const leaveOutBots = !areBotsCounted() && conditions.every(isOfOthers);
  const segments = segmentsOfAddress();
  const of = `${leaveOutBots} ${writeSegments(segments)} ${writeConditions(conditions) ?? ''}`;
  const key = `visits of all ${projectId} ${from.getTime()} ${to.getTime()} ${of}`;
  const timeRange = { from: timestampFromDate(from), to: timestampFromDate(to) };
  const filters = conditions.map(toPropertyFilter);
  const asked = { timeRange, leaveOutBots, filters, ...segments };
  const list = usePages(key, (pageToken, end) => loadVisits(projectId, asked, pageToken, end));
  return { key, bots, conditions, segments, list: useOldRows(list, projectId) };
}

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const isNarrow = useMedia(narrow);
  const [opened, setOpened] = useState<Visit>();
  const { key, bots, conditions, segments, list } = useVisits(projectId);
  const { rows, error, isLoading, isUpdating, hasMore, more, reload } = list;
  return (
    <>
      <div class="page-head">
        <Updating isOn={isUpdating}>
          <h1 tabIndex={-1}>Visits</h1>
        </Updating>
        <div class="row">
          <button type="button" aria-label="Refresh" title="Refresh" onClick={reload}>
            <Icon name="refresh" />
          </button>
          <RangePicker />
        </div>
      </div>
      <Chosen bots={bots} conditions={conditions} segments={segments} />
      <Fault cause={error} retry={reload} />
      {rows.length > 0 ? (
        <>
          <Table
            key={key}
            label="Visits, newest first"
            rows={rows}
            columns={isNarrow ? fewColumns : allColumns}
            rowKey={keyOf}
            onOpen={setOpened}
            onEnd={more}
            height="max(360px, calc(100dvh - 230px))"
          />
          <p class="hint" role="status">
            {hasMore
              ? `${figure(rows.length)} visits loaded; the next ones come as you scroll.`
              : `${plural(rows.length, 'visit')}: all of them.`}{' '}
            Times are in {currentZone()}.
          </p>
        </>
      ) : (
        <div class="events-room">
          {isLoading ? (
            <Loading of="visits" />
          ) : error ? null : (
            <NoVisits
              projectId={projectId}
              areFiltered={conditions.length > 0}
              isFiltered={!isEmpty(segments)}
            />
          )}
        </div>
      )}
      {opened ? (
        <VisitDrawer
          key={keyOf(opened)}
          visit={opened}
          projectId={projectId}
          onClose={() => setOpened(undefined)}
        />
      ) : null}
    </>
  );
}

/** Whether a condition is not about bots: one that is says which are meant. */
function isOfOthers({ property }: Condition): boolean {
  return property !== botProperty;
}

function Chosen(props: { bots: Bots; conditions: readonly Condition[]; segments: SegmentFilter }) {
  const { bots, conditions, segments } = props;
  return (
    <div class="row">
      <FilterBar
        {...{ bots, conditions }}
        onChange={(next) => setQuery({ filters: writeConditions(next) })}
      />
      <SegmentBar chosen={segments} onChange={setSegments} />
    </div>
  );
}

/** A session that is used again later has several visits. */
function keyOf({ sessionId, startTime }: Visit): string {
  return `${sessionId} ${startTime ? toDate(startTime).getTime() : ''}`;
}

/** `areFiltered`: their events are; `isFiltered`: their users are. */
function NoVisits(props: { projectId: string; areFiltered: boolean; isFiltered: boolean }) {
  const { projectId, areFiltered, isFiltered } = props;
  if (areFiltered) {
    return (
      <div class="empty">
        <h2>No visit has such an event in this range</h2>
        <button type="button" onClick={() => setQuery({ filters: undefined })}>
          Clear filters
        </button>
      </div>
    );
  }
  if (isFiltered) {
    return (
      <div class="empty">
        <h2>No visits of these users in this range</h2>
        <button type="button" onClick={() => setQuery({ segments: undefined })}>
          Show the visits of all
        </button>
      </div>
    );
  }
  return (
    <div class="empty">
      <h2>No visits in this range</h2>
      <p>
        A visit begins with its first event. <a href={`/p/${projectId}/setup`}>Setup</a> has the
        line for your page.
      </p>
      <button
        type="button"
        onClick={() => setQuery({ range: '12m', from: undefined, to: undefined })}
      >
        Show the last 12 months
      </button>
      <DemoCommand />
    </div>
  );
}
