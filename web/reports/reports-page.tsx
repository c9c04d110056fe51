// The project's reports, each with its next mail and its last; and the dialog that makes one.

import { useState } from 'preact/hooks';
import type { Report } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { inProject } from '../client.ts';
import { useResource } from '../resource.ts';
import { address, navigate, type PageProps } from '../router.ts';
import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { ReportForm } from './report-form.tsx';
import { recipientsText, reportsClient, scheduleText } from './report-words.ts';
import { RunState } from './run-state.tsx';

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const list = useResource(`reports ${projectId}`, (end) =>
    reportsClient.list({}, inProject(projectId, end)),
  );
  // A board leads here with its id.
  const board = address.value.query.get('board');
  const [isMaking, setMaking] = useState(board !== null);
  const reports = list.data?.reports ?? [];
  const mayWrite = hasRole(Role.MEMBER);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Reports</h1>
        {mayWrite ? (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            New report
          </button>
        ) : null}
      </div>
      <p class="hint">
        A report mails a board: its figures for the last day, week or month that is over, with their
        change from the one before.
      </p>
      <Fault cause={list.error} retry={list.reload} />
      {list.isLoading && !list.data ? <Loading of="reports" /> : null}
      {list.data && reports.length === 0 ? <Empty mayWrite={mayWrite} /> : null}
      {reports.length > 0 ? <List reports={reports} projectId={projectId} /> : null}
      {isMaking && mayWrite ? (
        <Dialog title="New report" onClose={() => setMaking(false)}>
          <ReportForm
            projectId={projectId}
            boardId={board ?? 'overview'}
            onSaved={(id) => navigate(`/p/${projectId}/reports/${id}`)}
          />
        </Dialog>
      ) : null}
    </>
  );
}

function Empty({ mayWrite }: { mayWrite: boolean }) {
  return (
    <section class="empty">
      <h2>No report yet</h2>
      <p>A report mails a board: the week on Monday morning, the month on its first day.</p>
      {mayWrite ? null : <p class="hint">Members of the organization make them.</p>}
    </section>
  );
}

function List({ reports, projectId }: { reports: readonly Report[]; projectId: string }) {
  return (
    <section class="card">
      <div class="scroll" tabIndex={0} role="region" aria-label="Reports: table">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Report</th>
              <th scope="col">Sent</th>
              <th scope="col">To</th>
              <th scope="col">Next</th>
              <th scope="col">Last</th>
            </tr>
          </thead>
          <tbody>
            {reports.map((report) => (
              <tr key={report.id}>
                <th scope="row">
                  <a href={`/p/${projectId}/reports/${report.id}`}>{report.displayName}</a>
                </th>
                <td data-label="Sent">{scheduleText(report.schedule)}</td>
                <td data-label="To">{recipientsText(report)}</td>
                <td data-label="Next">
                  {report.isPaused ? 'paused' : <Time at={report.nextTime} />}
                </td>
                <td data-label="Last">
                  {report.lastRun ? <RunState state={report.lastRun.state} /> : '–'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
