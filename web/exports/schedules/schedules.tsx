// Exports to a bucket of one's own: each with how it fares, and what an admin may do about it.

import { useState } from 'preact/hooks';
import { bytes, plural } from '../../../platform/words/figures.ts';
import {
  type ExportSchedule,
  ExportScheduleState,
} from '../../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import { ExportWhat } from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { inProject } from '../../client.ts';
import { useResource } from '../../resource.ts';
import { Action } from '../../settings/action.tsx';
import { Time } from '../../time/time.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../../ui/loading.tsx';
import { toast } from '../../ui/toasts.tsx';
import { hasRole, Role } from '../../workspace.ts';
import { queryText } from '../exports-client.ts';
import { NewKey, NewSchedule } from './new-schedule.tsx';
import { RunFrom } from './run-from.tsx';
import { cadenceOf, placeText, schedulesClient, scheduleWords } from './schedules-client.ts';

export function Schedules({ projectId }: { projectId: string }) {
  const list = useResource(`schedules ${projectId}`, (end) =>
    schedulesClient.list({}, inProject(projectId, end)),
  );
  const [isMaking, setMaking] = useState(false);
  const mayChange = hasRole(Role.ADMIN);
  const schedules = list.data?.schedules ?? [];
  return (
    <>
      <div class="page-head">
        <h2>To a bucket</h2>
        {mayChange ? (
          <button type="button" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            New schedule
          </button>
        ) : null}
      </div>
      <p class="hint">
        Files that are written to storage of your own, hour by hour or day by day, each event once.
        {mayChange ? null : ' Admins of the organization set it up.'}
      </p>
      <Fault cause={list.error} retry={list.reload} />
      {list.isLoading && !list.data ? <Loading of="schedules" /> : null}
      {list.data && schedules.length === 0 ? (
        <p class="hint">No schedule yet: nothing is written to a bucket.</p>
      ) : null}
      {schedules.map((one) => (
        <Card
          key={one.id}
          projectId={projectId}
          one={one}
          mayChange={mayChange}
          onChange={list.reload}
        />
      ))}
      {isMaking && mayChange ? (
        <Dialog title="New schedule" onClose={() => setMaking(false)}>
          <NewSchedule
            projectId={projectId}
            onMade={() => {
              setMaking(false);
              list.reload();
            }}
          />
        </Dialog>
      ) : null}
    </>
  );
}

interface CardProps {
  projectId: string;
  one: ExportSchedule;
  mayChange: boolean;
  onChange: () => void;
}

function Card(props: CardProps) {
  const { one, mayChange } = props;
  const { name, tone } = scheduleWords(one);
  return (
    <section class="card" aria-label={one.displayName}>
      <header>
        <h3 class="clip">{one.displayName}</h3>
        <span class="badge" data-tone={tone}>
          {name}
        </span>
      </header>
      <p>{`${cadenceOf(one).name}: ${queryText(one.query)}, to ${placeText(one)}`}</p>
      <p class="hint">
        <Last one={one} />
        {one.nextRunTime ? (
          <>
            Next: <Time at={one.nextRunTime} />.
          </>
        ) : null}
      </p>
      {one.reason ? <p class="bad-text">{`Paused: ${one.reason}.`}</p> : null}
      {one.lastError ? (
        <p class={one.failingSince ? 'bad-text' : 'hint'}>
          Last failure, <Time at={one.lastErrorTime} />
          {`: ${one.lastError}.`}
        </p>
      ) : null}
      {mayChange ? <Actions {...props} /> : null}
    </section>
  );
}

function Last({ one: { lastPeriod } }: { one: ExportSchedule }) {
  if (lastPeriod === undefined) return <>Nothing was written yet. </>;
  const { rows, files } = lastPeriod;
  const size = `${plural(rows, 'row')} in ${plural(files, 'file')}, ${bytes(Number(lastPeriod.bytes))}`;
  return (
    <>
      Written until <Time at={lastPeriod.to} />
      {`; the last period has ${size}. `}
    </>
  );
}

type Asking = 'run from' | 'key' | 'delete';

function Actions(props: CardProps) {
  const { projectId, one, onChange } = props;
  const { id, displayName } = one;
  const [asking, setAsking] = useState<Asking>();
  const isPaused = one.state === ExportScheduleState.PAUSED;
  const change = async (call: Promise<unknown>): Promise<void> => {
    await call;
    onChange();
  };
  return (
    <div class="row tight">
      {isPaused ? null : (
        <Action
          label={`Run now: ${displayName}`}
          done="What is due is written now."
          run={() => change(schedulesClient.run({ id }, inProject(projectId)))}
        >
          Run now
        </Action>
      )}
      {isPaused || one.query?.what !== ExportWhat.EVENTS ? null : (
        <button
          type="button"
          aria-label={`Run from: ${displayName}`}
          onClick={() => setAsking('run from')}
        >
          Run from
        </button>
      )}
      <Action
        label={`${isPaused ? 'Resume' : 'Pause'}: ${displayName}`}
        run={() => change(schedulesClient.update({ id, paused: !isPaused }, inProject(projectId)))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Action>
      <button type="button" aria-label={`New key: ${displayName}`} onClick={() => setAsking('key')}>
        New key
      </button>
      <button
        type="button"
        class="danger-text"
        aria-label={`Delete: ${displayName}`}
        onClick={() => setAsking('delete')}
      >
        Delete
      </button>
      {asking ? <Ask {...props} asking={asking} onClose={() => setAsking(undefined)} /> : null}
    </div>
  );
}

/** The dialog of an action that asks something first. */
function Ask(props: CardProps & { asking: Asking; onClose: () => void }) {
  const { projectId, one, onChange, asking, onClose } = props;
  const { id, displayName } = one;
  const done = (): void => {
    onClose();
    onChange();
  };
  switch (asking) {
    case 'run from':
      return (
        <Dialog title={`Run from: ${displayName}`} onClose={onClose}>
          <RunFrom
            projectId={projectId}
            one={one}
            onAsked={() => {
              toast('They are written again, one after the other.');
              done();
            }}
          />
        </Dialog>
      );
    case 'key':
      return (
        <Dialog title={`New key: ${displayName}`} onClose={onClose}>
          <NewKey projectId={projectId} id={id} onMade={done} />
        </Dialog>
      );
    case 'delete': {
      const forget = async (): Promise<void> => {
        await schedulesClient.delete({ id }, inProject(projectId));
        onChange();
      };
      return (
        <Confirm
          title={`Delete ${displayName}?`}
          action="Delete"
          onConfirm={forget}
          onClose={onClose}
        >
          <p>It is forgotten with its key. The files stay in the bucket.</p>
        </Confirm>
      );
    }
    default:
      return asking satisfies never;
  }
}
