// The project's alerts, each with its state; and the dialog that makes one.

import { useState } from 'preact/hooks';
import type { Alert } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { inProject } from '../client.ts';
import { type Bots, botsOf } from '../filter/bots.tsx';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { readSpec } from '../question/ask.ts';
import { formById } from '../question/forms.ts';
import { useResource } from '../resource.ts';
import { address, navigate, type PageProps } from '../router.ts';

import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { AlertForm, newQuestion } from './alert-form.tsx';
import { alertsClient, conditionText, lookText, stateOf } from './alert-words.ts';

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const list = useResource(`alerts ${projectId}`, (end) =>
    alertsClient.list({}, inProject(projectId, end)),
  );
  const bots = botsOf(useSeenVisitors(projectId));
  const { query } = address.value;
  const asked = query.get('q');
  const [isMaking, setMaking] = useState(asked !== null);
  const alerts = list.data?.alerts ?? [];
  const mayWrite = hasRole(Role.MEMBER);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Alerts</h1>
        {mayWrite ? (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            New alert
          </button>
        ) : null}
      </div>
      <p class="hint">
        An alert’s insight is checked for each complete period, and each change of its state is told
        once: by mail, and to webhooks that subscribe to alerts.
      </p>
      <Fault cause={list.error} retry={list.reload} />
      {list.isLoading && !list.data ? <Loading of="alerts" /> : null}
      {list.data && alerts.length === 0 ? <Empty mayWrite={mayWrite} /> : null}
      {alerts.length > 0 ? <List alerts={alerts} projectId={projectId} /> : null}
      {isMaking && mayWrite && bots !== undefined ? (
        <Dialog title="New alert" onClose={() => setMaking(false)}>
          <AlertForm
            projectId={projectId}
            spec={questionOf(asked, query.get('form') ?? '', bots)}
            onSaved={(id) => navigate(`/p/${projectId}/alerts/${id}`)}
          />
        </Dialog>
      ) : null}
    </>
  );
}

/** Of the address, where an answer leads here. */
function questionOf(asked: string | null, formId: string, bots: Bots) {
  const form = formById(formId);
  return asked === null || form === undefined ? newQuestion(bots) : readSpec(asked, form);
}

function Empty({ mayWrite }: { mayWrite: boolean }) {
  return (
    <section class="empty">
      <h2>No alert yet</h2>
      <p>
        An alert tells you when a number passes a threshold: no sign-ups for an hour, twice as many
        errors as the hour before, fewer visits than usual in a day.
      </p>
      {mayWrite ? null : <p class="hint">Members of the organization make them.</p>}
    </section>
  );
}

function List({ alerts, projectId }: { alerts: readonly Alert[]; projectId: string }) {
  return (
    <section class="card">
      <div class="scroll" tabIndex={0} role="region" aria-label="Alerts: table">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Alert</th>
              <th scope="col">State</th>
              <th scope="col">Since</th>
              <th scope="col">Notifies when</th>
              <th scope="col" class="number">
                Last value
              </th>
            </tr>
          </thead>
          <tbody>
            {alerts.map((alert) => (
              <tr key={alert.id}>
                <th scope="row">
                  <a href={`/p/${projectId}/alerts/${alert.id}`}>{alert.displayName}</a>
                </th>
                <td data-label="State">
                  <State alert={alert} />
                </td>
                <td data-label="Since">
                  <Time at={alert.stateTime} />
                </td>
                <td data-label="Notifies when">{conditionText(alert.condition, alert.interval)}</td>
                <td data-label="Last value" class="number">
                  {lookText(alert.lastLook, alert.condition)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function State({ alert: { state, isPaused } }: { alert: Alert }) {
  const { name, tone } = isPaused ? { name: 'paused', tone: '' } : stateOf(state);
  return (
    <span class="badge" data-tone={tone}>
      {name}
    </span>
  );
}
