// The columns of visits.

import type { Visit } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { MarkedDevice, MarkedPlace, MarkedSource } from '../marks/marked.tsx';
import { readablePath } from '../text/readable-path.ts';
import { idName } from '../text/user-name.ts';
import { Time } from '../time/time.tsx';
import { figure } from '../ui/figures.ts';
import type { Column } from '../ui/table.tsx';
import { deviceOf, lengthOf, placeOf, sourceOf } from './visits-client.ts';

const start: Column<Visit> = {
  name: 'Start',
  width: '112px',
  cell: ({ startTime }) => <Time at={startTime} />,
};

const length: Column<Visit> = { name: 'Length', width: '92px', isNumber: true, cell: lengthOf };

const events: Column<Visit> = {
  name: 'Events',
  width: '60px',
  isNumber: true,
  cell: (visit) => figure(visit.events),
};

const entry: Column<Visit> = {
  name: 'Entry page',
  width: 'minmax(90px, 1.4fr)',
  cell: ({ entryPage }) => <span title={entryPage}>{readablePath(entryPage)}</span>,
};

const who: Column<Visit> = { name: 'Who', width: 'minmax(90px, 1.2fr)', cell: whoOf };

function whoOf({ cookieless, bot, distinctId, profileId }: Visit) {
  const isNameless = cookieless && profileId === '';
  return (
    <>
      {isNameless ? (
        <span class="hint">Cookieless</span>
      ) : (
        <span title={distinctId}>{idName(distinctId, profileId)}</span>
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
  length,
  events,
  entry,
  {
    name: 'Exit page',
    width: 'minmax(90px, 1.4fr)',
    cell: ({ exitPage }) => <span title={exitPage}>{readablePath(exitPage)}</span>,
  },
  {
    name: 'Source',
    width: 'minmax(100px, 1.3fr)',
    cell: (visit) => (
      <MarkedSource referrerDomain={visit.referrerDomain} channel={visit.channel}>
        {sourceOf(visit)}
      </MarkedSource>
    ),
  },
  {
    name: 'Place',
    width: 'minmax(80px, 1fr)',
    cell: (visit) => <MarkedPlace country={visit.country}>{placeOf(visit)}</MarkedPlace>,
  },
  {
    name: 'Device',
    width: 'minmax(100px, 1.2fr)',
    cell: (visit) => (
      <MarkedDevice browser={visit.browser} os={visit.os}>
        {deviceOf(visit)}
      </MarkedDevice>
    ),
  },
  who,
];
