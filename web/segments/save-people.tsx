// Makes a segment of the people whom a number counts: a list of them as they are now, so that it has the same people.

import { create } from '@bufbuild/protobuf';
import { useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import { ProfileListSchema } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import type { SegmentUsersResponse } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { navigate } from '../router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { conditionOf, groupOf, testOf } from './groups.ts';
import { maxListed, saveSegment } from './segments-client.ts';

/** One page of the people of a number. */
type List = (pageToken: string, signal: AbortSignal) => Promise<SegmentUsersResponse>;

export function SavePeople(props: {
  projectId: string;
  title: string;
  list: List;
  onClose: () => void;
}) {
  const { projectId, onClose } = props;
  const [name, setName] = useState(props.title.slice(0, 150));
  // The drawer's question has no name of its own: each opening asks.
  const [key] = useState(() => `listed ${projectId} ${Date.now()}`);
  const found = useResource(key, (end) => profilesOf(props.list, end));
  const profileIds = found.data ?? [];
  const isTooMany = profileIds.length > maxListed;
  const save = async (): Promise<void> => {
    const value = create(ProfileListSchema, { profileIds });
    const condition = conditionOf([groupOf([testOf({ case: 'listed', value })])]);
    const id = await saveSegment(projectId, { id: undefined, displayName: name, condition });
    toast(`Saved: ${name}`);
    onClose();
    navigate(`/p/${projectId}/segments/${id}`);
  };
  return (
    <Dialog title="Save as segment" onClose={onClose}>
      <Fault cause={found.error} retry={found.reload} />
      {found.isLoading ? <Loading of="the users" /> : null}
      {isTooMany ? (
        <p>
          They are more than {maxListed}, and a list holds no more. Make a{' '}
          <a href={`/p/${projectId}/segments/new`}>segment by what they did</a> instead: it has no
          such bound.
        </p>
      ) : null}
      {found.data && !isTooMany ? (
        <Form
          action="Create segment"
          send={save}
          isReady={name.trim() !== '' && profileIds.length > 0}
        >
          <Field label="Name" value={name} onValue={setName} maxLength={150} required />
          <p class="hint">
            It lists {plural(profileIds.length, 'user')} as they are now. Whoever does the same
            later is not in it.
          </p>
        </Form>
      ) : null}
    </Dialog>
  );
}

/** All of them; where they are more than a list takes, more than so many. */
async function profilesOf(list: List, end: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let pageToken = '';
  do {
    const page = await list(pageToken, end);
    ids.push(...page.profiles.map(({ id }) => id).filter(Boolean));
    pageToken = page.nextPageToken;
  } while (pageToken !== '' && ids.length <= maxListed);
  return ids;
}
