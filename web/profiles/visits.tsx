// A person's events as visits: each a timeline with what happened and how long after the step before.

import { createClient } from '@connectrpc/connect';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { milliseconds, plural } from '../../platform/words/figures.ts';
import {
  type ActivityEvent,
  ActivityService,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { inProject, transport } from '../client.ts';
import { Steps } from '../event/steps.tsx';
import { pageOf } from '../event/value.ts';
import { usePages } from '../pages.ts';
import { Time, toDate } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { broughtTexts } from './worth/payments.ts';

const activity = createClient(ActivityService, transport);
const pageSize = 200;
/** Of a visit, until somebody asks for more. A longer one is folded, but for the newest. */
const firstEvents = 20;
const moreEvents = 100;

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
  const visits = visitsOf(rows);
  // Once asked for, of all visits, and of those that come later.
  const [areOpen, setOpen] = useState<boolean>();
  const isAnyOpen = areOpen ?? visits.length > 0;
  return (
    <section class="card">
      <div class="row between">
        <h2>Visits</h2>
        {rows.length > 0 ? (
          <button type="button" onClick={() => setOpen(!isAnyOpen)}>
            {isAnyOpen ? 'Fold all' : 'Unfold all'}
          </button>
        ) : null}
      </div>
      <Fault cause={error} retry={reload} />
      {isLoading && rows.length === 0 ? <Loading of="visits" /> : null}
      {!isLoading && !error && rows.length === 0 ? <p class="hint">No event is stored.</p> : null}
      {visits.map((visit, index) => (
        <Visit
          key={`${visit[0]?.sessionId} ${areOpen}`}
          visit={visit}
          isOpen={areOpen ?? (index === 0 || visit.length <= firstEvents)}
          isCut={hasMore && index === visits.length - 1}
        />
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

/** `isCut`: older events of it may follow, so that nothing is summed up yet. */
function Visit(props: { visit: ActivityEvent[]; isOpen: boolean; isCut: boolean }) {
  const { visit, isOpen, isCut } = props;
  const [shown, setShown] = useState(firstEvents);
  const box = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    const isLast = shown > firstEvents && shown >= visit.length;
    // The button is gone, and would take the focus with it.
    if (isLast) focusStep(box.current, shown - moreEvents);
  }, [shown]);
  return (
    <details class="visit" open={isOpen} ref={box}>
      <summary>
        <Time at={visit.at(-1)?.occurTime} />
        {isCut ? (
          <span class="hint clip grow">the latest {plural(visit.length, 'event')}</span>
        ) : (
          <Summary visit={visit} />
        )}
      </summary>
      <Steps newestFirst={visit.slice(-shown)} />
      {visit.length > shown ? (
        <button type="button" class="link" onClick={() => setShown(shown + moreEvents)}>
          {`Show more: ${plural(visit.length - shown, 'later event')}`}
        </button>
      ) : null}
    </details>
  );
}

/** Of those that are shown, the one at that place. */
function focusStep(visit: HTMLElement | null, place: number): void {
  const step = visit?.querySelectorAll<HTMLElement>('.steps > li')[place];
  if (!step) return;
  step.tabIndex = -1;
  step.focus();
}

function Summary({ visit }: { visit: ActivityEvent[] }) {
  const [last, first] = [visit[0]?.occurTime, visit.at(-1)?.occurTime];
  const lengthMs = first && last ? toDate(last).getTime() - toDate(first).getTime() : 0;
  const length = lengthMs > 0 ? `, ${milliseconds(lengthMs)}` : '';
  const entry = visit.findLast(({ kind }) => kind === 'page_view');
  const page = entry && pageOf(entry);
  return (
    <>
      <span class="hint clip grow" title={page}>
        {`${plural(visit.length, 'event')}${length}${page ? `, from ${page}` : ''}`}
      </span>
      <span>{broughtTexts(visit).join(', ')}</span>
    </>
  );
}
