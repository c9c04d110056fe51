// One event in full: what is known of it, its typed values, and ways to take it along.

import { readablePath } from '../../platform/words/readable-path.ts';
import { kindName } from '../../platform/words/value-words.ts';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { Time } from '../time/time.tsx';
import { copyText } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Fact } from './fact.tsx';
import { eventCurl, eventJson, typedValue } from './value.ts';
import '../styles/event.css';

export function EventDrawer(props: {
  event: ActivityEvent;
  projectId: string;
  onClose: () => void;
}) {
  const { event, projectId, onClose } = props;
  const base = `/p/${projectId}`;
  return (
    <Dialog
      title={event.kind ? kindName(event.kind) : 'Event'}
      side
      onClose={onClose}
      class="event-drawer"
    >
      {event.kind ? <p class="hint mono">{event.kind}</p> : null}
      <dl class="facts">
        <Fact name="When">
          <Time at={event.occurTime} as="day" /> <Time at={event.occurTime} as="clock" />
        </Fact>
        <Fact name="User id">
          {event.profileId ? (
            <a href={`${base}/profiles/${event.profileId}`}>{event.distinctId}</a>
          ) : (
            event.distinctId || 'unknown'
          )}
        </Fact>
        <Fact name="Visit">
          {event.sessionId ? (
            <a class="mono" href={`${base}/events?session=${event.sessionId}`}>
              {event.sessionId}
            </a>
          ) : (
            'none'
          )}
        </Fact>
        <Fact name="Event id">
          <span class="mono">{event.eventId || 'unknown'}</span>
        </Fact>
      </dl>
      <div class="row">
        <button
          type="button"
          onClick={() =>
            void copyText(JSON.stringify(eventJson(event), null, 2), 'The event as JSON')
          }
        >
          <Icon name="copy" />
          JSON
        </button>
        <button
          type="button"
          onClick={() => void copyText(eventCurl(event, window.location.origin), 'The command')}
        >
          <Icon name="copy" />
          curl
        </button>
      </div>
      <Values title="Event properties" properties={event.customProperties} />
      <Values title="Context" properties={event.autoProperties} />
    </Dialog>
  );
}

function Values(props: { title: string; properties: ActivityEvent['autoProperties'] }) {
  const keys = Object.keys(props.properties).sort();
  return (
    <section class="values">
      <h3>{props.title}</h3>
      {keys.length === 0 ? <p class="hint">None.</p> : null}
      {keys.length === 0 ? null : (
        <table>
          <colgroup>
            <col class="values-name" />
            <col />
            <col class="values-type" />
          </colgroup>
          <thead class="unseen">
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Value</th>
              <th scope="col">Type</th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => {
              const property = props.properties[key];
              if (!property) return null;
              const { type, text } = typedValue(property);
              return (
                <tr key={key}>
                  <th scope="row" class="mono">
                    {key}
                  </th>
                  <td>{text === '' ? <span class="hint">(empty)</span> : <Text text={text} />}</td>
                  <td>
                    <span class="badge">{type}</span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** A path as people read it, and as it was stored where that differs. */
function Text({ text }: { text: string }) {
  const readable = readablePath(text);
  if (readable === text) return <>{text}</>;
  return (
    <>
      {readable}
      <br />
      <small class="hint mono">{text}</small>
    </>
  );
}
