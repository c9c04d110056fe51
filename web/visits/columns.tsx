// The columns of visits.

import { figure } from '../../platform/words/figures.ts';
import { readablePath } from '../../platform/words/readable-path.ts';
import type { Visit } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { MarkedDevice, MarkedPlace, MarkedSource } from '../marks/marked.tsx';
import { visitorName } from '../text/user-name.ts';
import { Time } from '../time/time.tsx';
import type { Column } from '../ui/table.tsx';
import { deviceOf, durationOf, placeOf, sourceOf } from './visit-words.ts';

const start: Column<Visit> = {
  name: 'Start',
  width: '100px',
  cell: ({ startTime }) => <Time at={startTime} />,
};

const duration: Column<Visit> = {
  name: 'Duration',
  width: '84px',
  isNumber: true,
  cell: durationOf,
};

const events: Column<Visit> = {
  name: 'Events',
  width: '48px',
  isNumber: true,
  cell: (visit) => figure(visit.events),
};

const entry: Column<Visit> = {
  name: 'Entry page',
  width: 'minmax(90px, 1.2fr)',
  cell: ({ entryPage }) => <span title={entryPage}>{readablePath(entryPage)}</span>,
};

const who: Column<Visit> = { name: 'Who', width: 'minmax(90px, 1.5fr)', cell: whoOf };

function whoOf(visit: Visit) {
  const { cookieless, bot, distinctId, profileId } = visit;
  const isNameless = cookieless && profileId === '';
  return (
    <>
      {isNameless ? (
        <span class="hint">Cookieless</span>
      ) : (
        <span title={distinctId}>{visitorName(visit)}</span>
      )}
      {bot ? <span class="badge">bot</span> : null}
    </>
  );
}

/** For a phone. */
export const fewColumns: readonly Column<Visit>[] = [
  { ...start, width: '100px' },
  { ...entry, width: 'minmax(0, 1fr)' },
  { ...events, width: '52px' },
];

export const allColumns: readonly Column<Visit>[] = [
  start,
  duration,
  events,
  entry,
  {
    name: 'Exit page',
    width: 'minmax(90px, 1.2fr)',
    cell: ({ exitPage }) => <span title={exitPage}>{readablePath(exitPage)}</span>,
  },
  {
    name: 'Source',
    width: 'minmax(100px, 1.5fr)',
    cell: (visit) => (
      <MarkedSource
        referrerDomain={visit.referrerDomain}
        utmSource={visit.utmSource}
        channel={visit.channel}
      >
        {sourceOf(visit)}
      </MarkedSource>
    ),
  },
  {
    name: 'Place',
    width: 'minmax(80px, 1.2fr)',
    cell: (visit) => <MarkedPlace country={visit.country}>{placeOf(visit)}</MarkedPlace>,
  },
  {
    name: 'Device',
    width: 'minmax(100px, 1.4fr)',
    cell: (visit) => (
      <MarkedDevice browser={visit.browser} os={visit.os}>
        {deviceOf(visit)}
      </MarkedDevice>
    ),
  },
  who,
];
