// A person's events as visits: each a timeline with what happened and how long after the step before.

import { createClient } from '@connectrpc/connect';
import {
  type ActivityEvent,
  ActivityService,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { inProject, transport } from '../client.ts';
import { Steps } from '../event/steps.tsx';
import { usePages } from '../pages.ts';
import { Time, toDate } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { milliseconds, plural } from '../ui/figures.ts';
import { Loading } from '../ui/loading.tsx';

const activity = createClient(ActivityService, transport);
const pageSize = 200;

/** Newest first, as the events come; a visit's own events too. */
function visitsOf(events: readonly ActivityEvent[]): ActivityEvent[][] {
  const visits = new Map<string, ActivityEvent[]>();
  for (const event of events) {
    const visit = visits.get(event.sessionId);
    if (visit) visit.push(event);
    else visits.set(event.sessionId, [event]);
  }
  return [...visits.values()];
}

export function Visits({ projectId, profileId }: { projectId: string; profileId: string }) {
  const { rows, error, isLoading, hasMore, more, reload } = usePages(
    `visits ${projectId} ${profileId}`,
    async (pageToken, end) => {
      const page = await activity.list(
        { profileId, pageSize, pageToken },
        inProject(projectId, end),
      );
      return { rows: page.events, next: page.nextPageToken };
    },
  );
  return (
    <section class="card">
      <h2>Visits</h2>
      <Fault cause={error} retry={reload} />
      {isLoading && rows.length === 0 ? <Loading of="visits" /> : null}
      {!isLoading && !error && rows.length === 0 ? <p class="hint">No event is stored.</p> : null}
      {visitsOf(rows).map((visit) => (
        <Visit key={visit[0]?.sessionId} visit={visit} />
      ))}
      {hasMore ? (
        <div>
          <button type="button" onClick={more}>
            Older visits
          </button>
        </div>
      ) : null}
    </section>
  );
}

function Visit({ visit }: { visit: ActivityEvent[] }) {
  const [last, first] = [visit[0]?.occurTime, visit.at(-1)?.occurTime];
  const lengthMs = first && last ? toDate(last).getTime() - toDate(first).getTime() : 0;
  return (
    <details class="visit" open={visit.length <= 20}>
      <summary>
        <Time at={first} />
        <span class="hint">
          {plural(visit.length, 'event')}
          {lengthMs > 0 ? `, ${milliseconds(lengthMs)}` : ''}
        </span>
      </summary>
      <Steps newestFirst={visit} />
    </details>
  );
}
