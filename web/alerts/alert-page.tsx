// One alert: its values with the threshold, the changes of its state, and what can be done with it.

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useMemo, useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import type {
  Alert,
  AlertChange,
  AlertLook,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { AlertInterval } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { TimeChart } from '../charts/time-chart.tsx';
import { inProject } from '../client.ts';
import { usePoll } from '../poll.ts';
import { forget, useResource } from '../resource.ts';
import { navigate, type PageProps } from '../router.ts';
import { Action } from '../settings/action.tsx';
import { currentZone, Time } from '../time/time.tsx';
import { labelAt } from '../time/zone.ts';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { AlertForm, newQuestion } from './alert-form.tsx';
import { alertsClient, conditionText, lookText, stateOf } from './alert-words.ts';
import { State } from './alerts-page.tsx';

/** A new alert is looked at within seconds. */
const askEveryMs = 10_000;

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const id = params['alert'] ?? '';
  const found = useResource(`alert ${id}`, (end) =>
    alertsClient.get({ id }, inProject(projectId, end)),
  );
  usePoll(askEveryMs, () => {
    if (!found.isLoading && found.error === undefined) found.reload();
  });
  const { alert, changes = [], looks = [] } = found.data ?? {};
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>{alert?.displayName ?? 'Alert'}</h1>
        <a href={`/p/${projectId}/alerts`}>All alerts</a>
      </div>
      <Fault cause={found.error} retry={found.reload} />
      {found.isLoading && !alert ? <Loading of="the alert" /> : null}
      {alert ? (
        <>
          <Facts alert={alert} projectId={projectId} onChange={found.reload} />
          <Values alert={alert} looks={looks} />
          <History alert={alert} changes={changes} />
        </>
      ) : null}
    </>
  );
}

function Facts(props: { alert: Alert; projectId: string; onChange: () => void }) {
  const { alert, projectId, onChange } = props;
  const { id, isPaused, problem, stateTime, recipientIds } = alert;
  return (
    <section class="card">
      <p class="row">
        <State alert={alert} />
        <span>
          {stateTime ? (
            <>
              Since <Time at={stateTime} />.{' '}
            </>
          ) : null}
          Notifies when it is {conditionText(alert.condition, alert.interval)},{' '}
          {recipientIds.length === 0
            ? 'to webhooks alone'
            : `by mail to ${plural(recipientIds.length, 'member')}`}
          .
        </span>
      </p>
      {problem ? <p class="hint bad">The last check failed: {problem}</p> : null}
      {hasRole(Role.MEMBER) ? (
        <Actions {...{ alert, projectId, onChange }} key={`${id} ${isPaused}`} />
      ) : null}
    </section>
  );
}

function Actions(props: { alert: Alert; projectId: string; onChange: () => void }) {
  const { alert, projectId, onChange } = props;
  const { id, isPaused } = alert;
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const close = (): void => setOpen(undefined);
  const [told, setTold] = useState('');
  const test = async (): Promise<void> => {
    const answer = await alertsClient.test({ id }, inProject(projectId));
    const value = lookText(answer.look, alert.condition);
    const mail = answer.isMailed ? 'A mail is on its way to you' : `No mail: ${answer.problem}`;
    const hooks = plural(answer.webhooks, 'webhook');
    setTold(`The value is ${value}: ${stateOf(answer.state).name}. ${mail}; a test to ${hooks}.`);
  };
  return (
    <>
      <div class="row">
        <Action run={test}>Send a test</Action>
        <button type="button" onClick={() => setOpen('edit')}>
          Change
        </button>
        <Action
          done={isPaused ? 'It is checked again' : 'Paused'}
          run={async () => {
            await alertsClient.update({ id, isPaused: !isPaused }, inProject(projectId));
            onChange();
          }}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Action>
        <button type="button" class="link danger-text" onClick={() => setOpen('delete')}>
          Delete
        </button>
      </div>
      <p role="status" class="hint">
        {told}
      </p>
      {open === 'edit' ? (
        <Dialog title={`Change ${alert.displayName}`} onClose={close}>
          <AlertForm
            projectId={projectId}
            before={alert}
            spec={alert.spec ?? newQuestion('none')}
            onSaved={() => {
              close();
              onChange();
            }}
          />
        </Dialog>
      ) : null}
      {open === 'delete' ? <Delete {...{ alert, projectId }} onClose={close} /> : null}
    </>
  );
}

function Delete(props: { alert: Alert; projectId: string; onClose: () => void }) {
  const { alert, projectId, onClose } = props;
  const remove = async (): Promise<void> => {
    await alertsClient.delete({ id: alert.id }, inProject(projectId));
    forget(`alerts ${projectId}`);
    navigate(`/p/${projectId}/alerts`);
  };
  return (
    <Confirm
      title={`Delete ${alert.displayName}`}
      action="Delete it"
      onConfirm={remove}
      onClose={onClose}
    >
      <p>Nobody is told of it any more, and its history is gone.</p>
    </Confirm>
  );
}

function Values({ alert, looks }: { alert: Alert; looks: readonly AlertLook[] }) {
  const { condition, interval } = alert;
  const zone = currentZone();
  const drawn = useMemo(() => {
    const known = looks.flatMap(({ from, value }) => (from ? [{ from, value }] : []));
    const threshold = condition?.threshold ?? 0;
    return {
      labels: known.map(({ from }) => labelAt(new Date(timestampMs(from)), zone)),
      lines: [
        { name: 'Value', values: known.map(({ value }) => value ?? null) },
        { name: 'Threshold', values: known.map(() => threshold), isPrevious: true },
      ],
    };
  }, [looks, condition, zone]);
  return (
    <section class="card" aria-label="Values">
      <h2>Values</h2>
      {looks.length === 1 ? (
        <p>
          One value so far, of the period from <Time at={looks[0]?.from} />:{' '}
          {lookText(looks[0], condition)}.
        </p>
      ) : looks.length === 0 ? (
        <p class="hint">None yet. The newest complete period is checked within seconds.</p>
      ) : (
        <TimeChart
          label={`${alert.displayName}: values`}
          {...drawn}
          style={interval === AlertInterval.DAY ? 'day' : 'short'}
        />
      )}
    </section>
  );
}

function History({ alert, changes }: { alert: Alert; changes: readonly AlertChange[] }) {
  return (
    <section class="card">
      <h2>Changes</h2>
      {changes.length === 0 ? (
        <p class="hint">None yet.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Changes: table">
          <table>
            <thead>
              <tr>
                <th scope="col">Found</th>
                <th scope="col">State</th>
                <th scope="col">Before</th>
                <th scope="col" class="number">
                  Value
                </th>
                <th scope="col">Period from</th>
                <th scope="col">Told</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ id, time, state, previousState, look, isTold }) => (
                <tr key={id}>
                  <td>
                    <Time at={time} />
                  </td>
                  <td>
                    <span class="badge" data-tone={stateOf(state).tone}>
                      {stateOf(state).name}
                    </span>
                  </td>
                  <td>{stateOf(previousState).name}</td>
                  <td class="number">{lookText(look, alert.condition)}</td>
                  <td>
                    <Time at={look?.from} />
                  </td>
                  <td>{isTold ? 'yes' : 'not yet'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
