// One segment: its condition, the people in it, and what can be done with it. At `new` one is made.

import { useState } from 'preact/hooks';
import type { Segment } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { useOldRows, usePages } from '../pages.ts';
import { loadProfiles } from '../profiles/profiles-client.ts';
import { useResource } from '../resource.ts';
import { Updating } from '../retries/updating.tsx';
import { navigate, type PageProps } from '../router.ts';
import { userName } from '../text/user-name.ts';
import { currentZone, Time } from '../time/time.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';
import { conditionText } from './condition-words.ts';
import { SegmentForm } from './segment-form.tsx';
import { deleteSegment, getSegment } from './segments-client.ts';
import '../styles/segments.css';

/** In the place of an id. */
const isNew = 'new';

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const id = params['segment'] ?? '';
  if (id === isNew) return <NewSegment projectId={projectId} />;
  return <SavedSegment key={id} projectId={projectId} id={id} />;
}

function NewSegment({ projectId }: { projectId: string }) {
  return (
    <>
      <Head projectId={projectId} title="New segment" />
      {hasRole(Role.MEMBER) ? (
        <section class="card segment-fields" aria-label="Condition">
          <SegmentForm
            projectId={projectId}
            onSaved={(id) => navigate(`/p/${projectId}/segments/${id}`, { replace: true })}
          />
        </section>
      ) : (
        <p class="hint">Members of the organization make segments.</p>
      )}
    </>
  );
}

function SavedSegment({ projectId, id }: { projectId: string; id: string }) {
  const found = useResource(`segment ${id}`, (end) => getSegment(projectId, id, end));
  const segment = found.data;
  return (
    <>
      <Head projectId={projectId} title={segment?.displayName ?? 'Segment'} />
      <Fault cause={found.error} retry={found.reload} />
      {found.isLoading && !segment ? <Loading of="the segment" /> : null}
      {segment ? (
        <div class="segment">
          <section class="card segment-fields" aria-label="Condition">
            {hasRole(Role.MEMBER) ? (
              <>
                <SegmentForm projectId={projectId} before={segment} onSaved={found.reload} />
                <Delete projectId={projectId} segment={segment} />
              </>
            ) : (
              <p>{segment.condition ? conditionText(segment.condition, currentZone()) : ''}</p>
            )}
          </section>
          <People projectId={projectId} segment={segment} />
        </div>
      ) : null}
    </>
  );
}

function Head({ projectId, title }: { projectId: string; title: string }) {
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      <a href={`/p/${projectId}/segments`}>All segments</a>
    </div>
  );
}

function Delete({ projectId, segment }: { projectId: string; segment: Segment }) {
  const { id, displayName } = segment;
  const [isOpen, setOpen] = useState(false);
  const remove = async (): Promise<void> => {
    await deleteSegment(projectId, id);
    toast(`Deleted: ${displayName}`);
    navigate(`/p/${projectId}/segments`);
  };
  return (
    <>
      <button type="button" class="link danger-text" onClick={() => setOpen(true)}>
        Delete the segment
      </button>
      {isOpen ? (
        <Confirm
          title={`Delete ${displayName}`}
          action="Delete it"
          onConfirm={remove}
          onClose={() => setOpen(false)}
        >
          <p>
            Insights, boards and alerts that use it are not answered any more, and say why. The
            users and their events stay.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

/** Of the condition as it is saved, the newest profiles first. */
function People({
  projectId,
  segment: { id, updateTime },
}: {
  projectId: string;
  segment: Segment;
}) {
  const key = `segment-people ${id} ${updateTime?.seconds} ${updateTime?.nanos}`;
  const pages = usePages(key, (token, end) =>
    loadProfiles(
      projectId,
      {
        ...{ conditions: [], segments: [id], notInSegments: [] },
        ...{ sort: undefined, withWorth: false },
      },
      token,
      end,
    ),
  );
  const list = useOldRows(pages, id);
  const { rows, isLoading, isUpdating, error } = list;
  return (
    <section class="card" aria-label="Users">
      <header>
        <Updating isOn={isUpdating}>
          <h2>Users</h2>
        </Updating>
        <a href={`/p/${projectId}/profiles?segments=${id}`}>Show in Users</a>
      </header>
      <Fault cause={error} retry={list.reload} />
      <ul class="plain persons" aria-busy={isLoading}>
        {rows.map((profile) => (
          <li key={profile.id}>
            <a href={`/p/${projectId}/profiles/${profile.id}`}>{userName(profile)}</a>{' '}
            <small>
              seen <Time at={profile.activity?.lastSeen} />
            </small>
          </li>
        ))}
      </ul>
      {isLoading && !isUpdating ? <Loading of="the users" /> : null}
      {rows.length === 0 && !isLoading && !error ? (
        <p class="hint">Nobody meets the condition.</p>
      ) : null}
      {list.hasMore && !isLoading ? (
        <button type="button" onClick={list.more}>
          Show more
        </button>
      ) : null}
    </section>
  );
}
