// Users step by step: how many went on, how many left, and how long they took.

import type { Duration } from '@bufbuild/protobuf/wkt';
import type {
  FunnelResult,
  FunnelSeries,
  StepTiming,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { readablePath } from '../../text/readable-path.ts';
import { figure, milliseconds, percent, plural } from '../../ui/figures.ts';
import { groupName } from '../names.ts';
import { PersonsLink } from '../persons-link.tsx';
import type { Shown } from '../shown.ts';
import { FunnelOverTime } from './over-time.tsx';
import { isAnyOrder, stepName } from './step-names.ts';

export function Funnel(shown: Shown<FunnelResult>) {
  const { spec, result, previous, label, onOpen, onPersons } = shown;
  const isSplit = spec.breakdowns.length > 0;
  const most = Math.max(1, ...result.series.map((series) => total(series, 0)));
  const before = previous?.series[0];
  const steps = result.series[0]?.steps ?? [];
  if (steps.length === 0 || result.series.every((series) => total(series, 0) === 0))
    return <p class="hint">Nobody took the first step in this range.</p>;
  const open = result.series.reduce((sum, series) => sum + (series.open ?? 0), 0);
  return (
    <>
      {spec.funnel?.overTime ? <FunnelOverTime {...shown} /> : null}
      <ol class="funnel" aria-label={label}>
        {steps.map(({ eventKind }, step) => (
          <li key={step}>
            <h3>
              <span class="badge">{step + 1}</span> {stepName(spec, step)}
              {isOptional(result.series[0], step) ? <small> · may be skipped</small> : null}
              {onOpen && !isAnyOrder(spec) ? (
                <button
                  type="button"
                  class="link"
                  onClick={() => onOpen({ kind: eventKind, eventIndex: step })}
                >
                  Events
                </button>
              ) : null}
            </h3>
            {result.series.map((series, index) => {
              const name = isSplit ? groupName(spec, series) : 'Everybody';
              return (
                <StepBar
                  key={name}
                  name={isSplit ? name : undefined}
                  series={series}
                  step={step}
                  most={most}
                  color={index % 8}
                  before={isSplit ? undefined : before}
                  label={stepName(spec, step)}
                  onPersons={series.isOthers ? undefined : onPersons}
                />
              );
            })}
          </li>
        ))}
      </ol>
      {open > 0 ? (
        <p class="hint">
          {plural(open, 'user')} may still convert: the time from the first step to the last is not
          over.
        </p>
      ) : null}
      <StepsTable {...shown} />
    </>
  );
}

function StepsTable({ spec, result, label }: Shown<FunnelResult>) {
  const isSplit = spec.breakdowns.length > 0;
  return (
    <DataTable
      label={label}
      grid={{
        columns: [
          'Group',
          'Step',
          'Users',
          'Of the first step',
          'Of the step before',
          'Median',
          '95 of 100',
        ],
        rows: result.series.flatMap((series) =>
          series.steps.map(({ timing }, step) => [
            isSplit ? groupName(spec, series) : 'Everybody',
            `${step + 1}. ${stepName(spec, step)}${isOptional(series, step) ? ' (may be skipped)' : ''}`,
            total(series, step),
            percent(share(series, step, 0)),
            percent(share(series, step, stepBefore(series, step))),
            timing ? milliseconds(durationMs(timing.median)) : '',
            timing ? milliseconds(durationMs(timing.p95)) : '',
          ]),
        ),
      }}
    />
  );
}

function StepBar(props: {
  name: string | undefined;
  series: FunnelSeries;
  step: number;
  most: number;
  color: number;
  before: FunnelSeries | undefined;
  label: string;
  onPersons: Shown<FunnelResult>['onPersons'];
}) {
  const { name, series, step, most, before, label, onPersons } = props;
  const persons = {
    onPersons,
    rows: { kind: series.steps[step]?.eventKind ?? '', eventIndex: step },
  };
  const point = { step: step + 1, breakdown: series.breakdown };
  const users = total(series, step);
  const earlier = stepBefore(series, step);
  const left = step === 0 ? 0 : total(series, earlier) - users;
  const timing = series.steps[step]?.timing;
  return (
    <div class="funnel-bar">
      {name === undefined ? null : <span class="clip funnel-group">{readablePath(name)}</span>}
      <div class="funnel-track">
        <i data-series={props.color} style={{ width: `${(users / most) * 100}%` }} />
      </div>
      <p>
        <PersonsLink {...persons} title={label} point={point}>
          <b>{figure(users)}</b> {users === 1 ? 'user' : 'users'}
        </PersonsLink>{' '}
        · {percent(share(series, step, 0))}
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
    </div>
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

function durationMs(duration: Duration | undefined): number {
  return duration ? Number(duration.seconds) * 1000 + duration.nanos / 1e6 : 0;
}

function total({ steps }: FunnelSeries, step: number): number {
  return steps[step]?.total ?? 0;
}

function isOptional(series: FunnelSeries | undefined, step: number): boolean {
  return series?.steps[step]?.isOptional === true;
}

/** The nearest step before it that is not optional, from 0; of the first one itself. */
function stepBefore({ steps }: FunnelSeries, step: number): number {
  return Math.max(
    0,
    steps.findLastIndex(({ isOptional: isSkipped }, at) => at < step && !isSkipped),
  );
}

/** Of those who took the step `of`. */
function share(series: FunnelSeries, step: number, of: number): number {
  const base = total(series, of);
  return base === 0 ? 0 : total(series, step) / base;
}
