// Events that were accepted and could not be stored. Each is kept for 30 days, so that an operator can look at it.

import { figure } from '../../platform/words/figures.ts';
import type { DeadLetter } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { narrow, useMedia } from '../browser/media.ts';
import { inProject } from '../client.ts';
import { reasonText } from '../event/rule-text.ts';
import { activity } from '../feed/live-feed.ts';
import { usePages } from '../pages.ts';
import { currentZone, Time } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { type Column, Table } from '../ui/table.tsx';

const pageSize = 250;

const few: readonly Column<DeadLetter>[] = [
  { name: 'Time', width: '100px', cell: ({ time }) => <Time at={time} as="short" /> },
  { name: 'Why', width: 'minmax(140px, 2fr)', cell: ({ reason }) => reasonText(reason) },
];

const columns: readonly Column<DeadLetter>[] = [
  ...few,
  { name: 'Event', cell: ({ kind }) => kind || '–' },
  {
    name: 'Event id',
    width: 'minmax(0, 2fr)',
    cell: ({ eventId }) => <span class="mono">{eventId || 'a whole request'}</span>,
  },
  { name: 'Events', width: '72px', isNumber: true, cell: ({ events }) => figure(events) },
];

export function DeadTab({ projectId }: { projectId: string }) {
  const isNarrow = useMedia(narrow);
  const list = usePages(`dead ${projectId}`, async (pageToken, end) => {
    const answer = await activity.ingestHealth({ pageSize, pageToken }, inProject(projectId, end));
    return { rows: answer.deadLetters, next: answer.nextPageToken };
  });
  if (list.rows.length === 0) {
    if (list.error) return <Fault cause={list.error} retry={list.reload} />;
    if (list.isLoading) return <Loading of="dead letters" />;
    return (
      <div class="empty">
        <h2>No dead letters</h2>
        <p>Every event that was accepted in the last 30 days is stored, or on its way.</p>
      </div>
    );
  }
  return (
    <section class="stack">
      <Fault cause={list.error} retry={list.reload} />
      <Table
        label="Dead letters, newest first"
        rows={list.rows}
        columns={isNarrow ? few : columns}
        rowKey={({ time, eventId, kind }) => `${time?.seconds} ${time?.nanos} ${eventId} ${kind}`}
        onEnd={list.more}
        height="max(360px, calc(100dvh - 260px))"
      />
      <p class="hint">
        Kept for 30 days; their contents are in the stream EVENTS_DLQ of the broker. Times are in{' '}
        {currentZone()}.
      </p>
    </section>
  );
}
