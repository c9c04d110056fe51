// What a user has paid, and what led them here first: read beside the profile, so that its page need not wait.

import type { Profile, ProfileWorth } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject } from '../../client.ts';
import { type Resource, useResource } from '../../resource.ts';
import { profilesClient } from '../profiles-client.ts';
import { explainedFault } from './explained-fault.tsx';
import { SourceName } from './source-texts.tsx';
import { valueTexts } from './value-texts.ts';

export function WorthTiles({ projectId, profile }: { projectId: string; profile: Profile }) {
  const { id } = profile;
  const found = useResource(`profile worth ${projectId} ${id}`, async (end) => {
    const answer = await profilesClient.get({ id, withWorth: true }, inProject(projectId, end));
    return { worth: answer.profile?.worth };
  });
  const worth = found.data?.worth;
  return (
    <>
      <LifetimeValue worth={worth} found={found} />
      <First worth={worth} found={found} />
    </>
  );
}

type Found = { worth: ProfileWorth | undefined; found: Resource<unknown> };

function LifetimeValue({ worth, found }: Found) {
  const texts = worth ? valueTexts(worth) : [];
  const lines = texts.map((text) => <div key={text}>{text}</div>);
  return (
    <div>
      <dt>Lifetime value</dt>
      <dd class="small">{explainedFault(found) ?? (lines.length > 0 ? lines : noneYet(found))}</dd>
    </div>
  );
}

function First({ worth, found }: Found) {
  const source = worth?.firstSource;
  return (
    <div>
      <dt>First source</dt>
      <dd class="small">
        {explainedFault(found) ?? (source ? <SourceName source={source} /> : noneYet(found))}
      </dd>
    </div>
  );
}

/** Nothing is known while it is asked for. */
function noneYet({ isLoading }: Resource<unknown>): string {
  return isLoading ? '…' : '–';
}
