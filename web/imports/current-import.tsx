// The import that is under way: its upload, what its file holds, how far it is, and the buttons that lead on.

import { bytes, figure, percent, plural } from '../../platform/words/figures.ts';
import { type Import, ImportState } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { inProject } from '../client.ts';
import { Action } from '../settings/action.tsx';
import { Fault } from '../ui/fault.tsx';
import { familyName, importsClient, progressWords, stateWords } from './imports-client.ts';
import { FileField } from './new-import.tsx';
import { Report } from './report.tsx';
import { sendFile, upload } from './upload.ts';

type Props = { projectId: string; record: Import; mayChange: boolean; onChange: () => void };

export function CurrentImport(props: Props) {
  const { projectId, record, mayChange, onChange } = props;
  const { id, fileName, family, state } = record;
  const { name, tone } = stateWords(state);
  const isChecked = state === ImportState.CHECKED;
  const events = record.report?.events ?? 0n;
  return (
    <section class="card" aria-label="Under way">
      <header>
        <h2 class="clip">{fileName}</h2>
        <span class="badge" data-tone={tone}>
          {name}
        </span>
      </header>
      <p class="hint">
        {bytes(Number(record.bytes))}
        {family === '' ? '' : `, exported by ${familyName(family)}`}
      </p>
      <Now {...props} />
      {mayChange ? (
        <div class="row">
          {isChecked ? (
            <Action
              class="primary"
              run={async () => {
                await importsClient.start({ id }, inProject(projectId));
                onChange();
              }}
            >
              Import {plural(events, 'event')}
            </Action>
          ) : null}
          <Action
            class="danger-text"
            run={async () => {
              if (upload.peek()?.id === id) upload.value = undefined;
              await importsClient.cancel({ id }, inProject(projectId));
              onChange();
            }}
          >
            {isChecked ? 'Discard the file' : 'Cancel the import'}
          </Action>
        </div>
      ) : null}
    </section>
  );
}

function Now(props: Props) {
  const { record } = props;
  const { state, progress, queuePlace, report } = record;
  switch (state) {
    case ImportState.UPLOADING:
      return <Uploading {...props} />;
    case ImportState.CHECKING:
    case ImportState.IMPORTING: {
      if (queuePlace > 0) {
        const others = queuePlace === 1 ? 'Another file is' : `${figure(queuePlace)} files are`;
        return <p role="status">{others} before it on this server. It begins by itself.</p>;
      }
      const isImport = state === ImportState.IMPORTING;
      const label = isImport ? 'Importing' : 'Reading the file';
      const total = Number(progress?.total ?? 0n);
      return (
        <>
          <Bar label={label} share={total > 0 ? Number(progress?.done ?? 0n) / total : undefined} />
          <p class="hint">
            {progress ? `${progressWords(progress)}. ` : ''}
            {isImport
              ? 'You may leave this page. What is stored stays if you cancel.'
              : 'Nothing is stored yet.'}
          </p>
        </>
      );
    }
    case ImportState.CHECKED:
      return report ? (
        <>
          <p>Nothing is stored yet: this is what the file holds. It is kept for a day.</p>
          <Report report={report} />
        </>
      ) : null;
    default:
      return null;
  }
}

/** By this tab, or by one that was closed. */
function Uploading({ projectId, record, mayChange }: Props) {
  const now = upload.value;
  if (now?.id === record.id && now.fault === undefined) {
    const share = now.sentBytes / now.totalBytes;
    return (
      <>
        <Bar label="Uploading" share={share} />
        <p class="hint">
          {bytes(now.sentBytes)} of {bytes(now.totalBytes)} are there. Keep this tab open.
        </p>
      </>
    );
  }
  const onFile = (file: File | undefined): void => {
    if (file === undefined || BigInt(file.size) !== record.bytes) return;
    void sendFile(projectId, record, file);
  };
  return (
    <>
      <Fault cause={now?.id === record.id ? now.fault : undefined} />
      <p>
        {bytes(Number(record.uploadedBytes))} of {bytes(Number(record.bytes))} are there, and this
        tab does not send the rest.
      </p>
      {mayChange ? (
        <FileField label="Choose the same file to go on" hint={record.fileName} onFile={onFile} />
      ) : null}
    </>
  );
}

/** Without a share, nobody knows how far it is. */
function Bar({ label, share }: { label: string; share: number | undefined }) {
  const shown = share === undefined ? undefined : Math.min(1, share);
  return (
    <div class="stack">
      <p class="row between">
        <span>{label}</span>
        <span class="number">{shown === undefined ? '' : percent(shown)}</span>
      </p>
      <progress aria-label={label} {...(shown === undefined ? {} : { value: shown })} />
    </div>
  );
}
