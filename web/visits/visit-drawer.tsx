// One visit: what is known of it, and its events in order.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { plural } from '../../platform/words/figures.ts';
import { readablePath } from '../../platform/words/readable-path.ts';
import type { Visit } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { inProject } from '../client.ts';
import { Fact } from '../event/fact.tsx';
import { Steps } from '../event/steps.tsx';
import { MarkedDevice, MarkedPlace, MarkedSource } from '../marks/marked.tsx';
import { usePages } from '../pages.ts';
import { visitorName } from '../text/user-name.ts';
import { Time, toDate } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { deviceOf, durationMs, durationOf, placeOf, sourceOf } from './visit-words.ts';
import { activity } from './visits-client.ts';

/** Hardly any visit has more. */
const pageSize = 500;

export function VisitDrawer(props: { visit: Visit; projectId: string; onClose: () => void }) {
  const { visit, projectId, onClose } = props;
  const { referrerDomain, utmSource, channel, country, browser, os } = visit;
  const base = `/p/${projectId}`;
  return (
    <Dialog title="Visit" side onClose={onClose}>
      <dl class="facts">
        <Fact name="Start">
          <Time at={visit.startTime} as="day" /> <Time at={visit.startTime} as="clock" />
        </Fact>
        <Fact name="Duration">{durationOf(visit)}</Fact>
        <Fact name="Who">
          <Who visit={visit} base={base} />
        </Fact>
        <Fact name="Source">
          <MarkedSource {...{ referrerDomain, utmSource, channel }}>
            {sourceOf(visit) || '–'}
          </MarkedSource>
        </Fact>
        <Fact name="Entry page">{readablePath(visit.entryPage) || '–'}</Fact>
        <Fact name="Exit page">{readablePath(visit.exitPage) || '–'}</Fact>
        <Fact name="Place">
          <MarkedPlace country={country}>{placeOf(visit) || '–'}</MarkedPlace>
        </Fact>
        <Fact name="Device">
          <MarkedDevice {...{ browser, os }}>{deviceOf(visit) || '–'}</MarkedDevice>
        </Fact>
      </dl>
      <section class="values">
        <h3>{plural(visit.events, 'event')} in order</h3>
        <Events visit={visit} projectId={projectId} />
        <p>
          <a href={`${base}/events?session=${visit.sessionId}`}>Events with their properties</a>
        </p>
      </section>
    </Dialog>
  );
}

function Who({ visit, base }: { visit: Visit; base: string }) {
  const { profileId, distinctId, cookieless, bot } = visit;
  return (
    <>
      {profileId ? (
        <a href={`${base}/profiles/${profileId}`}>{visitorName(visit)}</a>
      ) : cookieless ? (
        'A cookieless visitor, who is known for a day and is not listed as a user'
      ) : (
        distinctId
      )}
      {bot ? ' (a bot)' : ''}
    </>
  );
}

function Events({ visit, projectId }: { visit: Visit; projectId: string }) {
  const { sessionId } = visit;
  const startMs = visit.startTime ? toDate(visit.startTime).getTime() : 0;
  // A session may be used again later.
  const timeRange = {
    from: timestampFromMs(startMs),
    to: timestampFromMs(startMs + durationMs(visit) + 1),
  };
  const { rows, error, isLoading, hasMore, more, reload } = usePages(
    `visit ${projectId} ${sessionId} ${startMs}`,
    async (pageToken, end) => {
      const asked = { sessionId, timeRange, pageSize, pageToken };
      const page = await activity.list(asked, inProject(projectId, end));
      return { rows: page.events, next: page.nextPageToken };
    },
  );
  return (
    <>
      <Fault cause={error} retry={reload} />
      {hasMore ? (
        <div>
          <button type="button" onClick={more}>
            Earlier events
          </button>
        </div>
      ) : null}
      {isLoading ? <Loading of="events" /> : null}
      <Steps newestFirst={rows} />
    </>
  );
}
