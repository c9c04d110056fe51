// The fields of a segment, for a new one and for changes, and how many people what is typed would have.

import { toJson } from '@bufbuild/protobuf';
import { useEffect, useState } from 'preact/hooks';
import { figure, percent } from '../../platform/words/figures.ts';
import {
  type Condition,
  ConditionSchema,
  type Segment,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { missingIn } from './condition-words.ts';
import { ConditionGroups, firstCondition } from './group-fields.tsx';
import { withoutGaps } from './groups.ts';
import { countPeople, saveSegment } from './segments-client.ts';

/** As long as somebody pauses between two letters. */
const typingMs = 450;

/** Without `before` the segment is new. */
export function SegmentForm(props: {
  projectId: string;
  before?: Segment | undefined;
  onSaved: (id: string) => void;
}) {
  const { projectId, before } = props;
  const [displayName, setDisplayName] = useState(before?.displayName ?? '');
  const [condition, setCondition] = useState(() => before?.condition ?? firstCondition());
  const gap = missingIn(condition);
  const send = async (): Promise<void> => {
    const whole = withoutGaps(condition);
    const id = await saveSegment(projectId, { id: before?.id, displayName, condition: whole });
    toast('Saved');
    props.onSaved(id);
  };
  return (
    <Form
      action={before ? 'Save the segment' : 'Create segment'}
      send={send}
      isReady={displayName.trim() !== '' && gap === undefined}
    >
      <Field
        label="Name"
        placeholder="Bought twice this month"
        maxLength={150}
        required
        value={displayName}
        onValue={setDisplayName}
      />
      {/* The pickers have forms of their own, whose events would send this one. */}
      <fieldset onSubmit={(event) => event.stopPropagation()}>
        <legend>Who is in it</legend>
        <ConditionGroups condition={condition} onChange={setCondition} />
      </fieldset>
      {gap === undefined ? (
        <Preview projectId={projectId} condition={condition} />
      ) : (
        <p class="hint" role="status">
          {gap}
        </p>
      )}
    </Form>
  );
}

/** How many it has as it is typed. What it says stays while the next count is on its way. */
function Preview({ projectId, condition }: { projectId: string; condition: Condition }) {
  const text = JSON.stringify(toJson(ConditionSchema, withoutGaps(condition)));
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setAsked(text), typingMs);
    return () => window.clearTimeout(timer);
  }, [text]);
  const key = asked === text ? `people ${projectId} ${text}` : undefined;
  const count = useResource(key, (end) => countPeople(projectId, withoutGaps(condition), end));
  if (count.error) return <Fault cause={count.error} retry={count.reload} />;
  if (!count.data) return <Loading of="the count" />;
  const { profiles = 0n, allProfiles = 0n } = count.data;
  const share = allProfiles === 0n ? '' : `, ${percent(Number(profiles) / Number(allProfiles))}`;
  return (
    <p role="status" aria-busy={asked !== text || count.isLoading}>
      <b>{figure(profiles)}</b> of {figure(allProfiles)} users{share}
    </p>
  );
}
