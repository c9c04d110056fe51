// A step's name, and its figures in words: how many users, what share, how many left, and how long they took.

import type { Duration } from '@bufbuild/protobuf/wkt';
import { figure, milliseconds, percent } from '../../../platform/words/figures.ts';
import type {
  FunnelResult,
  FunnelSeries,
  StepTiming,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { PersonsLink } from '../persons-link.tsx';
import type { Shown } from '../shown.ts';
import { isAnyOrder, stepName } from './step-names.ts';
import { isOptional, share, stepBefore, total } from './totals.ts';

export function StepHead({ shown, step }: { shown: Shown<FunnelResult>; step: number }) {
  const { spec, result, onOpen } = shown;
  const [first] = result.series;
  const kind = first?.steps[step]?.eventKind ?? '';
  return (
    <h3>
      <span class="badge">{step + 1}</span> {stepName(spec, step)}
      {isOptional(first, step) ? <small> · may be skipped</small> : null}
      {onOpen && !isAnyOrder(spec) ? (
        <button type="button" class="link" onClick={() => onOpen({ kind, eventIndex: step })}>
          Events
        </button>
      ) : null}
    </h3>
  );
}

/** `before`: the same group of the range before. */
export function StepFigures(props: {
  shown: Shown<FunnelResult>;
  series: FunnelSeries;
  step: number;
  before: FunnelSeries | undefined;
}) {
  const { shown, series, step, before } = props;
  const label = stepName(shown.spec, step);
  const persons = {
    onPersons: series.isOthers ? undefined : shown.onPersons,
    rows: { kind: series.steps[step]?.eventKind ?? '', eventIndex: step },
  };
  const point = { step: step + 1, breakdown: series.breakdown };
  const users = total(series, step);
  const earlier = stepBefore(series, step);
  const left = step === 0 ? 0 : total(series, earlier) - users;
  const timing = series.steps[step]?.timing;
  return (
    <p>
      <PersonsLink {...persons} title={label} point={point}>
        <b>{figure(users)}</b> {users === 1 ? 'user' : 'users'}
      </PersonsLink>{' '}
      · {percent(share(series, step, 0))}
      {earlier > 0 ? (
        <small> · {percent(share(series, step, earlier))} of the step before</small>
      ) : null}
      {before ? <small> ({percent(share(before, step, 0))} before)</small> : null}
      {step > 0 && !isOptional(series, step) ? (
        <small>
          {' · '}
          <PersonsLink
            {...persons}
            title={`Left before: ${label}`}
            point={{ ...point, step: earlier + 1, droppedOff: true }}
          >
            {figure(left)} left here
          </PersonsLink>
        </small>
      ) : null}
      {timing && users > 0 ? <Timing timing={timing} /> : null}
    </p>
  );
}

function Timing({ timing }: { timing: StepTiming }) {
  return (
    <small>
      {' '}
      · took {milliseconds(durationMs(timing.median))} in the median, 95 of 100 at most{' '}
      {milliseconds(durationMs(timing.p95))}
    </small>
  );
}

export function durationMs(duration: Duration | undefined): number {
  return duration ? Number(duration.seconds) * 1000 + duration.nanos / 1e6 : 0;
}
