// The live checklist: what of the set-up has been seen, and what went wrong.

import { useState } from 'preact/hooks';
import { milliseconds } from '../../platform/words/figures.ts';
import type { Refusal } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { methodName, ruleText } from '../event/rule-text.ts';
import { ago, formatTime, Time, toDate } from '../time/time.tsx';
import { Icon } from '../ui/icon.tsx';
import { LikelyFaults } from './likely-faults.tsx';
import { type Seen, useProgress } from './progress.ts';
import { type Sent, sendTestEvent, testKind } from './test-event.ts';

export function Checklist({ projectId, publicKey }: { projectId: string; publicKey: string }) {
  const progress = useProgress(projectId);
  const isRefusedOnly = progress.accepted === undefined && progress.refusals.length > 0;
  return (
    <section class="card setup-checklist" aria-label="What has arrived">
      <header>
        <h2>What has arrived</h2>
        <small>{progress.stored ? '' : 'Waiting for events'}</small>
      </header>
      <div role="status">
        <ol>
          <Item
            name="A request with this project’s key"
            seen={toldOnce(progress.request, progress.accepted)}
            isBad={isRefusedOnly}
            waiting={
              progress.preflight
                ? `A browser asked whether it may send, ${ago(progress.preflight)}, and no request with this key followed`
                : 'No request yet'
            }
          />
          <Item
            name="An event accepted"
            seen={toldOnce(progress.accepted, progress.stored)}
            waiting={progress.request && !isRefusedOnly ? 'On its way' : 'Not yet'}
          />
          <Item
            name="An event stored"
            seen={progress.stored}
            waiting="A second or two after it is accepted"
          />
          <Item
            name="A user identified"
            seen={progress.identified}
            waiting="Optional: a call of identify names a user"
          />
        </ol>
      </div>
      <Refusals refusals={progress.refusals} projectId={projectId} />
      <TestEvent {...{ projectId, publicKey }} />
      {progress.stored ? (
        <div class="row">
          <a class="button primary" href={`/p/${projectId}/live`}>
            Watch events live
          </a>
          <a class="button" href={`/p/${projectId}`}>
            Open the overview
          </a>
        </div>
      ) : null}
      {progress.isQuiet && !progress.accepted ? (
        <LikelyFaults publicKey={publicKey} progress={progress} />
      ) : null}
    </section>
  );
}

/** The event is named by the last item that it has reached. */
function toldOnce(seen: Seen, next: Seen): Seen {
  return seen && seen.what === next?.what ? { ...seen, what: '' } : seen;
}

function Item(props: { name: string; seen: Seen; waiting: string; isBad?: boolean }) {
  const { seen, isBad = false } = props;
  const state = isBad ? 'bad' : seen ? 'done' : 'waiting';
  return (
    <li data-state={state}>
      <i aria-hidden="true">
        {state === 'waiting' ? null : <Icon name={isBad ? 'close' : 'check'} />}
      </i>
      <div>
        <strong>{props.name}</strong>
        <p class="hint">
          {seen ? (
            <span title={formatTime(seen.at, 'short')}>
              {[seen.what, ago(seen.at)].filter(Boolean).join(', ')}
            </span>
          ) : (
            props.waiting
          )}
        </p>
      </div>
      <span class="unseen">
        {state === 'done' ? 'done' : state === 'bad' ? 'failed' : 'waiting'}
      </span>
    </li>
  );
}

function place({ field, eventIndex }: Refusal): string {
  return eventIndex === undefined ? field : `events[${eventIndex}]${field ? `.${field}` : ''}`;
}

function Refusals({ refusals, projectId }: { refusals: readonly Refusal[]; projectId: string }) {
  if (refusals.length === 0) return null;
  return (
    <div class="setup-refusals" role="alert">
      <h3>Refused, with the rule</h3>
      <ul>
        {refusals.map((refusal, index) => (
          <li key={index}>
            <p>{ruleText(refusal.rule, place(refusal))}</p>
            <p class="hint">
              <code>{refusal.rule}</code> · {methodName(refusal.method)}
              {refusal.kind ? ` · ${refusal.kind}` : ''}
              {refusal.sdk ? ` · ${refusal.sdk}` : ''} ·{' '}
              <Time at={refusal.time && toDate(refusal.time)} as="clock" />
            </p>
          </li>
        ))}
      </ul>
      <a href={`/p/${projectId}/events?tab=refused`}>All refusals</a>
    </div>
  );
}

/** Shows whether the service and the key are right, so that what is left is the reader's own page. */
function TestEvent({ projectId, publicKey }: { projectId: string; publicKey: string }) {
  const [sent, setSent] = useState<Sent>();
  const [isSending, setSending] = useState(false);
  const send = async (): Promise<void> => {
    setSending(true);
    setSent(await sendTestEvent(projectId, publicKey));
    setSending(false);
  };
  return (
    <div class="setup-test">
      <button type="button" disabled={isSending} onClick={() => void send()}>
        <Icon name="send" />
        Send a test event from this page
      </button>
      <p class="hint" role="status">
        {sent === undefined ? (
          <>
            A real event, <code>{testKind}</code>. It stays in the project.
          </>
        ) : sent.state === 'accepted' ? (
          `Accepted after ${milliseconds(sent.tookMs)}: the key and the service are right.`
        ) : (
          <span class="bad-text">{sent.why}.</span>
        )}
      </p>
    </div>
  );
}
