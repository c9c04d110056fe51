// One report: when it is sent and to whom, what was sent, a look at the next mail, and what can be done with it.

import { useState } from 'preact/hooks';
import type { Report, ReportRun } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { inProject } from '../client.ts';
import { usePoll } from '../poll.ts';
import { forget, useResource } from '../resource.ts';
import { navigate, type PageProps } from '../router.ts';
import { Action } from '../settings/action.tsx';
import { Time } from '../time/time.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { Preview } from './preview.tsx';
import { type NameOf, Recipients, useNames } from './recipients.tsx';
import { ReportForm } from './report-form.tsx';
import { notesOf, reportsClient, scheduleText } from './report-words.ts';
import { RunState } from './run-state.tsx';

const askEveryMs = 10_000;

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const id = params['report'] ?? '';
  const found = useResource(`report ${id}`, (end) =>
    reportsClient.get({ id }, inProject(projectId, end)),
  );
  usePoll(askEveryMs, () => {
    if (!found.isLoading && found.error === undefined) found.reload();
  });
  const nameOf = useNames();
  const { report, runs = [] } = found.data ?? {};
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>{report?.displayName ?? 'Report'}</h1>
        <a href={`/p/${projectId}/reports`}>All reports</a>
      </div>
      <Fault cause={found.error} retry={found.reload} />
      {found.isLoading && !report ? <Loading of="the report" /> : null}
      {report ? (
        <>
          <Facts report={report} projectId={projectId} onChange={found.reload} />
          <Recipients {...{ report, projectId, nameOf }} />
          <History runs={runs} nameOf={nameOf} />
        </>
      ) : null}
    </>
  );
}

function Facts(props: { report: Report; projectId: string; onChange: () => void }) {
  const { report, projectId, onChange } = props;
  const { id, isPaused, schedule, dashboardId, nextTime } = report;
  return (
    <section class="card">
      <p>
        Sent {scheduleText(schedule)}.{' '}
        {isPaused ? (
          <span class="badge">paused</span>
        ) : (
          <>
            The next one is due <Time at={nextTime} />.
          </>
        )}{' '}
        <a href={`/p/${projectId}/boards/${dashboardId}`}>Its board</a>
      </p>
      <Actions {...{ report, projectId, onChange }} key={`${id} ${isPaused}`} />
    </section>
  );
}

function Actions(props: { report: Report; projectId: string; onChange: () => void }) {
  const { report, projectId, onChange } = props;
  const { id, isPaused } = report;
  const [open, setOpen] = useState<'preview' | 'edit' | 'delete'>();
  const close = (): void => setOpen(undefined);
  const [told, setTold] = useState('');
  const test = async (): Promise<void> => {
    const { isMailed, problem } = await reportsClient.test({ id }, inProject(projectId));
    setTold(isMailed ? 'A test is on its way to you.' : `No mail: ${problem}.`);
  };
  const pause = async (): Promise<void> => {
    await reportsClient.update({ id, isPaused: !isPaused }, inProject(projectId));
    onChange();
  };
  return (
    <>
      <div class="row">
        <button type="button" onClick={() => setOpen('preview')}>
          Preview
        </button>
        {hasRole(Role.MEMBER) ? (
          <>
            <Action run={test}>Send me a test</Action>
            <button type="button" onClick={() => setOpen('edit')}>
              Change
            </button>
            <Action done={isPaused ? 'It is sent again' : 'Paused'} run={pause}>
              {isPaused ? 'Resume' : 'Pause'}
            </Action>
            <button type="button" class="link danger-text" onClick={() => setOpen('delete')}>
              Delete
            </button>
          </>
        ) : null}
      </div>
      <p role="status" class="hint">
        {told}
      </p>
      {open === 'preview' ? <Preview {...{ report, projectId }} onClose={close} /> : null}
      {open === 'edit' ? (
        <Dialog title={`Change ${report.displayName}`} onClose={close}>
          <ReportForm
            {...{ projectId, before: report, boardId: report.dashboardId }}
            onSaved={() => {
              close();
              onChange();
            }}
          />
        </Dialog>
      ) : null}
      {open === 'delete' ? <Delete {...{ report, projectId }} onClose={close} /> : null}
    </>
  );
}

function Delete(props: { report: Report; projectId: string; onClose: () => void }) {
  const { report, projectId, onClose } = props;
  const remove = async (): Promise<void> => {
    await reportsClient.delete({ id: report.id }, inProject(projectId));
    forget(`reports ${projectId}`);
    navigate(`/p/${projectId}/reports`);
  };
  return (
    <Confirm
      title={`Delete ${report.displayName}`}
      action="Delete it"
      onConfirm={remove}
      onClose={onClose}
    >
      <p>Nobody gets it any more, and its history is gone.</p>
    </Confirm>
  );
}

function History({ runs, nameOf }: { runs: readonly ReportRun[]; nameOf: NameOf }) {
  return (
    <section class="card">
      <h2>History</h2>
      {runs.length === 0 ? (
        <p class="hint">Nothing was sent yet.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="History: table">
          <table>
            <thead>
              <tr>
                <th scope="col">Due</th>
                <th scope="col">State</th>
                <th scope="col" class="number">
                  Sent
                </th>
                <th scope="col" class="number">
                  Failed
                </th>
                <th scope="col">Notes</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <tr key={run.id}>
                  <td>
                    <Time at={run.time} />
                  </td>
                  <td>
                    <RunState state={run.state} />
                  </td>
                  <td class="number">{run.sent}</td>
                  <td class="number">{run.failed}</td>
                  <td>{notesOf(run, nameOf).join(' ') || '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
