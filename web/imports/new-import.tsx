// Chooses a file of history and begins its upload.

import { useId, useState } from 'preact/hooks';
import { bytes } from '../../platform/words/figures.ts';
import { inProject } from '../client.ts';
import { Check, Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { type Family, families, importsClient } from './imports-client.ts';
import { sendFile } from './upload.ts';

const maxBytes = 2 * 1024 ** 3;

export function NewImport({ projectId, onBegun }: { projectId: string; onBegun: () => void }) {
  const [file, setFile] = useState<File>();
  const [family, setFamily] = useState<Family>('');
  const [timezone, setTimezone] = useState('');
  const [hostname, setHostname] = useState('');
  const [clientField, setClientField] = useState('');
  const [withoutTraits, setWithoutTraits] = useState(false);
  const fault = faultOf(file);
  const send = async (): Promise<void> => {
    if (file === undefined) return;
    const options = {
      withoutTraits,
      ...(family === 'mixpanel' ? { timezone } : {}),
      ...(family === 'access-log' ? { hostname, clientField } : {}),
    };
    const announced = { fileName: file.name, bytes: BigInt(file.size), family, options };
    const made = await importsClient.create(announced, inProject(projectId));
    if (made.import !== undefined) void sendFile(projectId, made.import, file);
    onBegun();
  };
  return (
    <Form
      action="Upload and read it"
      send={send}
      isReady={file !== undefined && fault === undefined}
    >
      <FileField
        label="File"
        hint="At most 2 GiB; gzip and zip are fine, and a zip may hold many files."
        fault={fault}
        onFile={setFile}
      />
      <Select label="Exported by" value={family} options={families} onValue={setFamily} />
      {family === 'mixpanel' ? (
        <Field
          label="Time zone of the project"
          hint="Only of projects from before 2023, whose times are not in UTC: America/Los_Angeles."
          value={timezone}
          onValue={setTimezone}
        />
      ) : null}
      {family === 'access-log' ? (
        <div class="row">
          <Field
            label="Host of the site"
            hint="Where lines name none."
            placeholder="www.example.org"
            value={hostname}
            onValue={setHostname}
          />
          <Field
            label="Field with the visitor’s address"
            hint="Behind a proxy: its number, “last”, or its name."
            value={clientField}
            onValue={setClientField}
          />
        </div>
      ) : null}
      <Check
        label="Leave the traits of users as they are"
        checked={withoutTraits}
        onValue={setWithoutTraits}
      />
    </Form>
  );
}

/** A choice of one file. */
export function FileField(props: {
  label: string;
  hint: string;
  fault?: string | undefined;
  onFile: (file: File | undefined) => void;
}) {
  const id = useId();
  const { label, hint, fault, onFile } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        aria-describedby={`${id}-hint`}
        aria-invalid={fault ? true : undefined}
        onChange={(event) => onFile(event.currentTarget.files?.[0])}
      />
      <p id={`${id}-hint`} class={fault ? 'hint bad' : 'hint'}>
        {fault ?? hint}
      </p>
    </div>
  );
}

function faultOf(file: File | undefined): string | undefined {
  if (file === undefined) return undefined;
  if (file.size === 0) return 'The file is empty.';
  if (file.size <= maxBytes) return undefined;
  return `The file has ${bytes(file.size)}, and at most 2 GiB are taken: cut it, or use npm run import.`;
}
