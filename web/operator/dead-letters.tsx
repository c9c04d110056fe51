// Events of all projects that were accepted and could not be stored.

import { figure } from '../../platform/words/figures.ts';
import type {
  DeadLetter,
  ListDeadLettersResponse,
} from '../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { usePages } from '../pages.ts';
import { Time } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { type Column, Table } from '../ui/table.tsx';

const columns: Column<DeadLetter>[] = [
  { name: 'Time', width: '130px', cell: ({ time }) => <Time at={time} /> },
  { name: 'Reason', cell: ({ reason }) => reason },
  { name: 'Event', cell: ({ kind }) => kind || '–' },
  { name: 'Project', cell: ({ projectId }) => projectId || '–' },
  { name: 'Event id', cell: ({ eventId }) => eventId || '–' },
  { name: 'Events', width: '70px', isNumber: true, cell: ({ events }) => figure(events ?? 1n) },
];

export function DeadLetters(props: {
  load: (token: string, signal: AbortSignal) => Promise<ListDeadLettersResponse>;
}) {
  const { rows, error, isLoading, more, reload } = usePages(
    'operator dead letters',
    async (token, signal) => {
      const page = await props.load(token, signal);
      return { rows: page.deadLetters, next: page.nextPageToken ?? '' };
    },
  );
  if (error) return <Fault cause={error} retry={reload} />;
  if (isLoading && rows.length === 0) return <Loading of="dead letters" />;
  if (rows.length === 0)
    return (
      <section class="empty">
        <h2>No dead letter</h2>
        <p>Every accepted event of the last 30 days could be stored.</p>
      </section>
    );
  return (
    <Table
      label="Dead letters"
      rows={rows}
      columns={columns}
      rowKey={({ eventId, time }) => `${eventId} ${time?.seconds} ${time?.nanos}`}
      onEnd={more}
    />
  );
}
