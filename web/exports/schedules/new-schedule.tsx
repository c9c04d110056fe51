// What is to be written to a bucket, how often, and the key that opens the bucket.

import { useState } from 'preact/hooks';
import { inProject } from '../../client.ts';
import { Check, Field, Select } from '../../fields/field.tsx';
import { Form } from '../../fields/form.tsx';
import { FilterBar } from '../../filter/filter-bar.tsx';
import { SegmentBar } from '../../filter/segment-bar.tsx';
import { formats, whats } from '../exports-client.ts';
import { PeriodField } from './period-field.tsx';
import { type AskedSchedule, cadences, makeSchedule, schedulesClient } from './schedules-client.ts';

const nothing: AskedSchedule = {
  ...{ displayName: '', what: 'events', format: 'parquet', cadence: 'hourly', kinds: '' },
  ...{ segments: [], notInSegments: [], conditions: [], start: '' },
  ...{ endpoint: '', region: '', bucket: '', prefix: '' },
  ...{ pathStyle: false, accessKeyId: '', secretAccessKey: '' },
};

export function NewSchedule({ projectId, onMade }: { projectId: string; onMade: () => void }) {
  const [asked, setAsked] = useState(nothing);
  const set = (changes: Partial<AskedSchedule>): void => setAsked({ ...asked, ...changes });
  const send = async (): Promise<void> => {
    await makeSchedule(projectId, asked);
    onMade();
  };
  return (
    <Form action="Try the bucket and begin" send={send}>
      <Field
        label="Name"
        value={asked.displayName}
        onValue={(displayName) => set({ displayName })}
        maxLength={150}
        required
      />
      <RowsFields asked={asked} set={set} />
      <Select
        label="Format"
        value={asked.format}
        options={formats}
        onValue={(format) => set({ format })}
      />
      <BucketFields asked={asked} set={set} />
    </Form>
  );
}

interface PartProps {
  asked: AskedSchedule;
  set: (changes: Partial<AskedSchedule>) => void;
}

/** Which rows, how often, and from when on. */
function RowsFields({ asked, set }: PartProps) {
  const { what, cadence, conditions } = asked;
  const isOfEvents = what === 'events';
  return (
    // The pickers have forms of their own, whose events would send this one.
    <div class="stack" onSubmit={(event) => event.stopPropagation()}>
      <Select
        label="What"
        hint={isOfEvents ? undefined : 'All of them as they are at the end of each day.'}
        value={what}
        options={whats}
        onValue={(next) => set(asOf(next, asked))}
      />
      {isOfEvents ? (
        <>
          <Select
            label="How often"
            hint="By when they were received, in UTC."
            value={cadence}
            options={cadences}
            onValue={(next) => set({ cadence: next, start: '' })}
          />
          <PeriodField
            label="Begin with"
            hint="Empty: with the present one."
            cadence={cadence}
            value={asked.start}
            onValue={(start) => set({ start })}
          />
          <Field
            label="Events"
            hint="With commas between them; empty: all."
            value={asked.kinds}
            onValue={(kinds) => set({ kinds })}
          />
        </>
      ) : null}
      <FilterBar
        conditions={conditions}
        of={isOfEvents ? 'events' : 'users'}
        onChange={(next) => set({ conditions: next })}
      />
      <SegmentBar chosen={asked} onChange={set} />
    </div>
  );
}

/** Properties of events and of persons are not the same, and persons are as they are when they are written. */
function asOf(what: AskedSchedule['what'], asked: AskedSchedule): Partial<AskedSchedule> {
  const isOfEvents = what === 'events';
  const isSame = isOfEvents === (asked.what === 'events');
  return {
    what,
    conditions: isSame ? asked.conditions : [],
    ...(isOfEvents ? {} : { cadence: 'daily', start: '' }),
  };
}

function BucketFields({ asked, set }: PartProps) {
  return (
    <>
      <Field
        label="Endpoint"
        hint="Of storage that speaks S3, such as https://s3.eu-central-1.amazonaws.com."
        type="url"
        value={asked.endpoint}
        onValue={(endpoint) => set({ endpoint })}
        required
      />
      <div class="row">
        <Field
          label="Region"
          hint="us-east-1 unless given."
          value={asked.region}
          onValue={(region) => set({ region })}
        />
        <Field label="Bucket" value={asked.bucket} onValue={(bucket) => set({ bucket })} required />
        <Field
          label="Prefix"
          hint="Before all names."
          value={asked.prefix}
          onValue={(prefix) => set({ prefix })}
        />
      </div>
      <Check
        label="The bucket stands in the path, as MinIO and others want it"
        checked={asked.pathStyle}
        onValue={(pathStyle) => set({ pathStyle })}
      />
      <KeyFields
        accessKeyId={asked.accessKeyId}
        secretAccessKey={asked.secretAccessKey}
        onChange={set}
      />
    </>
  );
}

interface Key {
  accessKeyId: string;
  secretAccessKey: string;
}

function KeyFields({ onChange, ...key }: Key & { onChange: (changes: Partial<Key>) => void }) {
  return (
    <>
      <Field
        label="Access key id"
        hint="Of a key that may write, read and delete below the prefix."
        value={key.accessKeyId}
        onValue={(accessKeyId) => onChange({ accessKeyId })}
        autoComplete="off"
        required
      />
      <Field
        label="Secret access key"
        hint="Kept encrypted, and shown to nobody."
        type="password"
        value={key.secretAccessKey}
        onValue={(secretAccessKey) => onChange({ secretAccessKey })}
        autoComplete="off"
        required
      />
    </>
  );
}

/** Another key for the same bucket, which is tried. */
export function NewKey(props: { projectId: string; id: string; onMade: () => void }) {
  const { projectId, id, onMade } = props;
  const [key, setKey] = useState<Key>({ accessKeyId: '', secretAccessKey: '' });
  const send = async (): Promise<void> => {
    await schedulesClient.update({ id, ...key }, inProject(projectId));
    onMade();
  };
  return (
    <Form action="Try the key and keep it" send={send}>
      <KeyFields {...key} onChange={(changes) => setKey({ ...key, ...changes })} />
    </Form>
  );
}
