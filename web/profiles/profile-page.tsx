// One person: traits, numbers, places, devices, the ids that were merged into it, and the visits.

import { useState } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import type { MergedId, Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject } from '../client.ts';
import { MarkedDevice, MarkedPlace } from '../marks/marked.tsx';
import { forget, useResource } from '../resource.ts';
import type { PageProps } from '../router.ts';
import { address } from '../router.ts';
import { Time } from '../time/time.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';
import { ErasureState } from './erasure-state.tsx';
import { ProfileHead } from './profile-head.tsx';
import { deviceOf, placeOf, profilesClient } from './profiles-client.ts';
import { Visits } from './visits.tsx';
import { WorthTiles } from './worth/worth-tiles.tsx';
import '../styles/profiles.css';

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const requestId = address.value.query.get('erasure');
  if (requestId) return <ErasureState projectId={projectId} requestId={requestId} />;
  return <Person projectId={projectId} id={params['profile'] ?? ''} />;
}

function Person({ projectId, id }: { projectId: string; id: string }) {
  const found = useResource(`profile ${projectId} ${id}`, (end) =>
    profilesClient.get({ id }, inProject(projectId, end)),
  );
  const profile = found.data?.profile;
  if (found.error) return <Fault cause={found.error} retry={found.reload} />;
  if (!profile) return <Loading of="the user" />;
  return (
    <>
      <ProfileHead projectId={projectId} profile={profile} />
      <Numbers projectId={projectId} profile={profile} />
      <div class="profile-columns">
        <div class="stack">
          <Traits profile={profile} />
          <Merged projectId={projectId} merged={profile.merged} reload={found.reload} />
        </div>
        <Visits projectId={projectId} profileId={profile.id} />
      </div>
    </>
  );
}

function Numbers({ projectId, profile }: { projectId: string; profile: Profile }) {
  const { activity } = profile;
  return (
    <dl class="numbers">
      <div>
        <dt>Events</dt>
        <dd>{figure(activity?.totalEvents ?? 0n)}</dd>
      </div>
      <div>
        <dt>Page views</dt>
        <dd>{figure(activity?.pageviews ?? 0n)}</dd>
      </div>
      <div>
        <dt>Visits</dt>
        <dd>{figure(activity?.sessions ?? 0n)}</dd>
      </div>
      <WorthTiles projectId={projectId} profile={profile} />
      <div>
        <dt>First seen</dt>
        <dd class="small">
          <Time at={activity?.firstSeen} />
        </dd>
      </div>
      <div>
        <dt>Last seen</dt>
        <dd class="small">
          <Time at={activity?.lastSeen} />
        </dd>
      </div>
      <div>
        <dt>Place</dt>
        <dd class="small">
          <MarkedPlace country={activity?.country}>{placeOf(profile) || '–'}</MarkedPlace>
        </dd>
      </div>
      <div>
        <dt>Device</dt>
        <dd class="small">
          <MarkedDevice browser={activity?.browser} os={activity?.os}>
            {deviceOf(profile) || '–'}
          </MarkedDevice>
        </dd>
      </div>
    </dl>
  );
}

function Traits({ profile }: { profile: Profile }) {
  const traits = Object.entries(profile.properties ?? {});
  return (
    <section class="card">
      <h2>Traits</h2>
      {traits.length === 0 ? (
        <p class="hint">None. Identify sets them: who, which plan, since when.</p>
      ) : (
        <dl class="facts">
          {traits.map(([key, value]) => (
            <div key={key}>
              <dt class="clip" title={key}>
                {key}
              </dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {profile.updateTime ? (
        <p class="hint">
          Changed <Time at={profile.updateTime} />
        </p>
      ) : null}
    </section>
  );
}

function Merged(props: { projectId: string; merged: MergedId[]; reload: () => void }) {
  const [undone, setUndone] = useState<string>();
  const undo = async (distinctId: string): Promise<void> => {
    await profilesClient.unmergeProfile({ distinctId }, inProject(props.projectId));
    forget(`profiles ${props.projectId}`);
    toast(`${distinctId} is a user of its own again`);
    props.reload();
  };
  if (props.merged.length === 0) return null;
  return (
    <section class="card">
      <h2>Merged ids</h2>
      <p class="hint">All events of these ids count for this user.</p>
      <ul class="merged">
        {props.merged.map(({ distinctId, mergeTime }) => (
          <li key={distinctId}>
            <span class="mono clip grow" title={distinctId}>
              {distinctId}
            </span>
            <small>
              <Time at={mergeTime} />
            </small>
            {hasRole(Role.ADMIN) ? (
              <button
                type="button"
                class="link"
                aria-label={`Undo the merge of ${distinctId}`}
                onClick={() => setUndone(distinctId)}
              >
                Undo
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {undone ? (
        <Confirm
          title="Undo the merge"
          action="Undo it"
          onConfirm={() => undo(undone)}
          onClose={() => setUndone(undefined)}
        >
          <p>
            <code>{undone}</code> becomes a user of its own again, with its events. Traits that it
            brought leave this user.
          </p>
        </Confirm>
      ) : null}
    </section>
  );
}
