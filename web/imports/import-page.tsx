// Brings the history of a project: the import that is under way or a new one, and those that ended.

import { plural } from '../../platform/words/figures.ts';
import { type Import, ImportState } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { inProject } from '../client.ts';
import { usePoll } from '../poll.ts';
import { useResource } from '../resource.ts';
import type { PageProps } from '../router.ts';
import { Time } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { CurrentImport } from './current-import.tsx';
import { importsClient, isUnderWay, stateWords } from './imports-client.ts';
import { NewImport } from './new-import.tsx';
import { Report } from './report.tsx';

const pollMs = 1_000;

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const list = useResource(`imports ${projectId}`, (end) =>
    importsClient.list({}, inProject(projectId, end)),
  );
  const { imports = [], refusal = '' } = list.data ?? {};
  const current = imports.find(isUnderWay);
  const ended = imports.filter((record) => !isUnderWay(record));
  usePoll(pollMs, () => {
    if (current !== undefined && !list.isLoading) list.reload();
  });
  const mayChange = hasRole(Role.ADMIN);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Import</h1>
        <a href={`/p/${projectId}/settings`}>Settings</a>
      </div>
      <p class="hint">
        Brings the history that another product exported, or a web server’s log, with its times,
        users and visits. The file is read first, and nothing is stored before you say so. The same
        events are never stored twice.
      </p>
      <Fault cause={list.error} retry={list.reload} />
      {!list.data && !list.error ? <Loading of="imports" /> : null}
      {current === undefined ? null : (
        <CurrentImport
          key={current.id}
          projectId={projectId}
          record={current}
          mayChange={mayChange && refusal === ''}
          onChange={list.reload}
        />
      )}
      {list.data && current === undefined ? (
        <section class="card">
          <h2>Upload a file</h2>
          {refusal !== '' || !mayChange ? (
            <p class="hint">{refusal || 'Admins of the organization import files.'}</p>
          ) : (
            <NewImport projectId={projectId} onBegun={list.reload} />
          )}
        </section>
      ) : null}
      {list.data ? <Ended imports={ended} /> : null}
    </>
  );
}

function Ended({ imports }: { imports: readonly Import[] }) {
  return (
    <section class="card">
      <h2>Before</h2>
      {imports.length === 0 ? <p class="hint">No import has ended yet.</p> : null}
      {imports.map((record) => (
        <details key={record.id}>
          <summary>
            {record.fileName} <State record={record} /> <Time at={record.stateTime} />
          </summary>
          <Outcome record={record} />
        </details>
      ))}
    </section>
  );
}

function State({ record: { state } }: { record: Import }) {
  const { name, tone } = stateWords(state);
  return (
    <span class="badge" data-tone={tone}>
      {name}
    </span>
  );
}

function Outcome({ record: { state, fault, result, report } }: { record: Import }) {
  const found = result ?? report;
  return (
    <div class="stack">
      {fault === '' ? null : <p class="bad-text">{fault}</p>}
      {result === undefined ? null : (
        <p>
          {plural(result.sent, 'event')} sent, {plural(result.stored, 'event')} stored before,{' '}
          {plural(result.identityCalls, 'call')} that link ids and set traits.
        </p>
      )}
      {state === ImportState.CANCELED && result === undefined && fault === '' ? (
        <p>Somebody canceled it. Events that were stored before stay.</p>
      ) : null}
      {found === undefined ? null : <Report report={found} />}
    </div>
  );
}
