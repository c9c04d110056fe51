// The project's segments, each in words and with how many people it has.

import { useEffect, useState } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import type { Segment } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { useResource } from '../resource.ts';
import { Updating } from '../retries/updating.tsx';
import type { PageProps } from '../router.ts';
import { currentZone, Time } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { conditionText } from './condition-words.ts';
import { countPeople, listSegments } from './segments-client.ts';

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const list = useResource(`segments ${projectId}`, (end) => listSegments(projectId, end));
  const segments = list.data ?? [];
  const mayWrite = hasRole(Role.MEMBER);
  return (
    <>
      <div class="page-head">
        <Updating isOn={list.isLoading && list.data !== undefined}>
          <h1 tabIndex={-1}>Segments</h1>
        </Updating>
        {mayWrite ? (
          <a class="button primary" href={`/p/${projectId}/segments/new`}>
            <Icon name="plus" />
            New segment
          </a>
        ) : null}
      </div>
      <p class="hint">
        A segment is the users who meet a condition: of what they did, of their traits, of when they
        came first. Insights, boards and lists can be of its users alone.
      </p>
      <Fault cause={list.error} retry={list.reload} />
      {list.isLoading && !list.data ? <Loading of="segments" /> : null}
      {list.data && segments.length === 0 ? <Empty mayWrite={mayWrite} /> : null}
      {segments.length > 0 ? <List projectId={projectId} segments={segments} /> : null}
    </>
  );
}

function Empty({ mayWrite }: { mayWrite: boolean }) {
  return (
    <section class="empty">
      <h2>No segment yet</h2>
      <p>
        Some that are often asked for: who bought twice in the last 30 days, who signed up and never
        came back, who has the plan “pro” and was first seen this year.
      </p>
      {mayWrite ? null : <p class="hint">Members of the organization make them.</p>}
    </section>
  );
}

function List({ projectId, segments }: { projectId: string; segments: readonly Segment[] }) {
  const counts = useCounts(projectId, segments);
  return (
    <section class="card">
      <div class="scroll segment-list" tabIndex={0} role="region" aria-label="Segments: table">
        <table class="stacks">
          <thead>
            <tr>
              <th scope="col">Segment</th>
              <th scope="col">Who is in it</th>
              <th scope="col" class="number">
                Users
              </th>
              <th scope="col">Changed</th>
            </tr>
          </thead>
          <tbody>
            {segments.map(({ id, displayName, condition, updateTime }) => (
              <tr key={id}>
                <th scope="row">
                  <a href={`/p/${projectId}/segments/${id}`}>{displayName}</a>
                </th>
                <td>{condition ? conditionText(condition, currentZone()) : ''}</td>
                <td data-label="Users" class="number" aria-busy={!counts.has(id)}>
                  {counts.get(id) ?? '…'}
                </td>
                <td data-label="Changed">
                  <Time at={updateTime} as="day" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** One is counted after the other: a project may have a hundred. A dash where one cannot be counted. */
function useCounts(projectId: string, segments: readonly Segment[]): ReadonlyMap<string, string> {
  const [counts, setCounts] = useState<ReadonlyMap<string, string>>(new Map());
  // A list that is read again is another object, mostly of the same segments.
  const key = segments.map(({ id, updateTime: at }) => `${id} ${at?.seconds} ${at?.nanos}`).join();
  useEffect(() => {
    const end = new AbortController();
    const countAll = async (): Promise<void> => {
      for (const { id, condition } of segments) {
        const text = condition ? await countText(projectId, condition, end.signal) : '–';
        if (end.signal.aborted) return;
        setCounts((known) => new Map([...known, [id, text]]));
      }
    };
    void countAll();
    return () => end.abort();
  }, [projectId, key]);
  return counts;
}

async function countText(
  projectId: string,
  condition: NonNullable<Segment['condition']>,
  signal: AbortSignal,
): Promise<string> {
  try {
    return figure((await countPeople(projectId, condition, signal)).profiles ?? 0n);
  } catch {
    return '–';
  }
}
