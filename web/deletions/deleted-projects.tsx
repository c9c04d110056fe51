// The projects of an organization that were deleted, and how far each deletion is: asked again while one is under way.

import type { Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { usePoll } from '../poll.ts';
import { useResource } from '../resource.ts';
import { Time } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { projectsClient } from '../workspace.ts';
import { stateOf } from './deletion-words.ts';

const askEveryMs = 3_000;

export function DeletedProjects({ org }: { org: Org }) {
  const listed = useResource(`deletions ${org.id}`, (signal) =>
    projectsClient.listDeletions({ orgId: org.id }, { signal }),
  );
  const rows = listed.data?.deletions ?? [];
  const isUnderWay = rows.some(({ completeTime }) => completeTime === undefined);
  usePoll(askEveryMs, () => {
    if (isUnderWay && !listed.isLoading) listed.reload();
  });
  return (
    <section class="card">
      <h2>Deleted projects</h2>
      <Fault cause={listed.error} retry={listed.reload} />
      {listed.data === undefined && listed.error === undefined ? (
        <Loading of="deleted projects" />
      ) : null}
      {listed.data !== undefined && rows.length === 0 ? (
        <p class="hint">None. An admin deletes a project in its settings.</p>
      ) : null}
      <div
        class="scroll"
        hidden={rows.length === 0}
        tabIndex={0}
        role="region"
        aria-label="Deleted projects: table"
      >
        <table>
          <thead>
            <tr>
              <th scope="col">Project</th>
              <th scope="col">Requested</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.projectId}>
                <td>{row.displayName || <code>{row.projectId}</code>}</td>
                <td>
                  <Time at={row.requestTime} />
                </td>
                <td>{stateOf(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
