// The events of a visit in order: what happened when, and where.

import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { kindNamer } from '../text/namer.ts';
import { formatTime, toDate } from '../time/time.tsx';
import { pageOf } from './value.ts';
import '../styles/event.css';

/** `newestFirst`: as the service lists them. */
export function Steps({ newestFirst }: { newestFirst: readonly ActivityEvent[] }) {
  const nameOf = kindNamer(newestFirst.map(({ kind }) => kind));
  return (
    <ol class="steps">
      {[...newestFirst].reverse().map((event) => (
        <li key={event.eventId}>
          <span class="mono">
            {event.occurTime ? formatTime(toDate(event.occurTime), 'clock') : ''}
          </span>
          <b title={event.kind}>{nameOf(event.kind)}</b>
          <span class="clip grow">{pageOf(event)}</span>
        </li>
      ))}
    </ol>
  );
}
