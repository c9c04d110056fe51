// What stands beside every figure: how fresh it is, and what it does not count.

import { figure, plural } from '../../platform/words/figures.ts';
import {
  type LeftOut,
  type QueryResponse,
  LeftOut_Reason as Reason,
  Touch,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Time, toDate } from '../time/time.tsx';

/** The freshness of the oldest of several answers; `zone`: the board's, where it is one. */
export function Freshness(props: { answers: readonly QueryResponse[]; zone?: string | undefined }) {
  const { answers, zone } = props;
  const known = answers.flatMap(({ completeUntil }) =>
    completeUntil ? [toDate(completeUntil)] : [],
  );
  if (known.length === 0 || known.length < answers.length)
    return <span>How fresh it is, is not known: the broker does not tell what waits.</span>;
  const oldest = new Date(Math.min(...known.map((moment) => moment.getTime())));
  return (
    <span>
      Complete until <Time at={oldest} as="clock" zone={zone} />
    </span>
  );
}

/** One sentence for each reason; nothing where all is counted. */
export function LeftOutNote({
  answer,
  hideGroups = false,
}: {
  answer: QueryResponse;
  hideGroups?: boolean;
}) {
  const said = answer.leftOut.filter(
    ({ reason }) => !hideGroups || reason !== Reason.GROUPS_IN_OTHERS,
  );
  if (said.length === 0 && !answer.identitiesAreCurrent) return null;
  return (
    <ul class="left-out">
      {said.map((one) => (
        <li key={one.reason}>{sentence(one)}</li>
      ))}
      {answer.identitiesAreCurrent ? <li>Merged ids and traits are those of today.</li> : null}
    </ul>
  );
}

/** Where breakdowns count users: which groups a user counts in. */
export function TouchNote({ answer }: { answer: QueryResponse }) {
  if (answer.touch === Touch.UNSPECIFIED) return null;
  return (
    <p class="touch-note">
      {answer.touch === Touch.EVERY
        ? 'A user counts in each group of theirs.'
        : 'A user counts in the group of their first event.'}
    </p>
  );
}

export function Provenance({ answer }: { answer: QueryResponse }) {
  return (
    <div class="provenance">
      <Freshness answers={[answer]} />
      <LeftOutNote answer={answer} />
      <TouchNote answer={answer} />
    </div>
  );
}

/** What is not counted, and why. */
export function sentence({ reason, count, before }: LeftOut): string {
  switch (reason) {
    case Reason.COOKIELESS_EVENTS:
      return `Not counted: ${plural(count, 'event')} of cookieless visitors. Include them to count each of their days as a user.`;
    case Reason.DELETED_PROFILES:
      return `Not counted: ${plural(count, 'event')} of deleted users.`;
    case Reason.GROUPS_IN_OTHERS:
      return `${plural(count, 'smaller group')} are counted together as all others.`;
    case Reason.RECEIVED_LATER:
      return `Not counted: ${plural(count, 'event')} that came after the moment you ask for.`;
    case Reason.NODES_IN_OTHERS:
      return `${plural(count, 'smaller value')} are counted together as all others.`;
    case Reason.LINKS_BEYOND_LIMIT:
      return `Not shown: the ${figure(count)} smallest paths.`;
    case Reason.STEPS_BEYOND_LIMIT:
      return `Not shown: ${plural(count, 'step')} after the last that is followed.`;
    case Reason.CURRENCIES_BEYOND_LIMIT:
      return `Not shown: the ${figure(count)} currencies with the fewest payments.`;
    case Reason.OLDER_THAN_RETENTION: {
      const day = before ? `${toDate(before).toISOString().slice(0, 10)} (UTC)` : 'then';
      return `Not counted: events before ${day}. The project keeps its events no longer.`;
    }
    case Reason.UNSPECIFIED:
      return `Not counted: ${figure(count)}, for a reason this page does not know.`;
    default:
      return reason satisfies never;
  }
}
