// The project's kept exports: asks for one, shows how far each is, hands out its files, ends it.

import { useState } from 'preact/hooks';
import { bytes, plural } from '../../platform/words/figures.ts';
import {
  type Export,
  type ExportPart,
  ExportState,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { download } from '../browser/download.ts';
import { accessToken, inProject } from '../client.ts';
import { usePoll } from '../poll.ts';
import { useResource } from '../resource.ts';
import type { PageProps } from '../router.ts';
import { Action } from '../settings/action.tsx';
import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';
import { exportsClient, isUnderWay, queryText, stateWords } from './exports-client.ts';
import { NewExport } from './new-export.tsx';
import { Schedules } from './schedules/schedules.tsx';

const pollMs = 1_000;

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const list = useResource(`exports ${projectId}`, (end) =>
    exportsClient.list({}, inProject(projectId, end)),
  );
  const exports = list.data?.exports ?? [];
  usePoll(pollMs, () => {
    if (exports.some(isUnderWay) && !list.isLoading) list.reload();
  });
  const [isAsking, setAsking] = useState(false);
  const mayAsk = hasRole(Role.MEMBER);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Exports</h1>
        {mayAsk ? (
          <button type="button" class="primary" onClick={() => setAsking(true)}>
            <Icon name="plus" />
            New export
          </button>
        ) : null}
      </div>
      <p class="hint">
        An export is written in the background and kept for seven days: files of events, of users,
        or of what each user did, whole and with their types. You get a mail once it is ready.
      </p>
      <Fault cause={list.error} retry={list.reload} />
      {list.isLoading && !list.data ? <Loading of="exports" /> : null}
      {list.data && exports.length === 0 ? <Empty mayAsk={mayAsk} /> : null}
      {exports.map((one) => (
        <Card
          key={one.id}
          projectId={projectId}
          one={one}
          mayCancel={mayAsk}
          onChange={list.reload}
        />
      ))}
      <Schedules projectId={projectId} />
      {isAsking && mayAsk ? (
        <Dialog title="New export" onClose={() => setAsking(false)}>
          <NewExport
            projectId={projectId}
            onAsked={() => {
              setAsking(false);
              list.reload();
            }}
          />
        </Dialog>
      ) : null}
    </>
  );
}

function Empty({ mayAsk }: { mayAsk: boolean }) {
  return (
    <section class="empty">
      <h2>No export yet</h2>
      <p>
        Events and Users have a button that exports what their filters select. Here you ask for all
        of it.
      </p>
      {mayAsk ? null : <p class="hint">Members of the organization ask for exports.</p>}
    </section>
  );
}

function Card(props: { projectId: string; one: Export; mayCancel: boolean; onChange: () => void }) {
  const { projectId, one, mayCancel, onChange } = props;
  const { id, query, state, reason, parts } = one;
  const { name, tone } = stateWords(state);
  const title = queryText(query);
  const isThere = state === ExportState.READY;
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2 class="clip">{title}</h2>
        <span class="badge" data-tone={tone}>
          {name}
        </span>
      </header>
      <p class="hint" aria-live="polite">
        {rangeText(one)}Requested <Time at={one.createTime} />. <Progress one={one} />
      </p>
      {reason === '' ? null : <p class={isUnderWay(one) ? 'hint' : 'bad-text'}>{reason}</p>}
      {isThere ? (
        <ul class="stack">
          {parts.map((part) => (
            <Part key={part.name} projectId={projectId} id={id} part={part} />
          ))}
          <Part projectId={projectId} id={id} part={undefined} />
        </ul>
      ) : null}
      {mayCancel && (isThere || isUnderWay(one)) ? (
        <Action
          class="danger-text"
          label={`${isThere ? 'Delete its files' : 'Cancel'}: ${title}`}
          run={async () => {
            await exportsClient.cancel({ id }, inProject(projectId));
            onChange();
          }}
        >
          {isThere ? 'Delete its files' : 'Cancel'}
        </Action>
      ) : null}
    </section>
  );
}

function rangeText({ query }: Export) {
  const { from, to } = query?.timeRange ?? {};
  if (from === undefined && to === undefined) return null;
  return (
    <>
      {from ? (
        <>
          From <Time at={from} />
        </>
      ) : null}
      {to ? (
        <>
          {from ? ' to ' : 'To '}
          <Time at={to} />
        </>
      ) : null}
      {'. '}
    </>
  );
}

function Progress({ one }: { one: Export }) {
  const size = `${plural(one.rows, 'row')}, ${bytes(Number(one.bytes))}`;
  switch (one.state) {
    case ExportState.RUNNING:
      return <>{`${one.parts.length} of ${plural(one.partCount, 'file')} are there: ${size}.`}</>;
    case ExportState.READY:
      return (
        <>
          {`${size}. Kept until `}
          <Time at={one.expireTime} />.
        </>
      );
    default:
      return null;
  }
}

/** A file of an export; its manifest where there is no part. */
function Part(props: { projectId: string; id: string; part: ExportPart | undefined }) {
  const { projectId, id, part } = props;
  const name = part?.name ?? 'manifest.json';
  const said = part
    ? `${plural(part.rows, 'row')}, ${bytes(Number(part.bytes))}`
    : 'what the files hold, with their hashes';
  return (
    <li class="row tight">
      <Action label={`Download ${name}`} run={() => take(projectId, id, name)}>
        {name}
      </Action>
      <span class="hint">{said}</span>
    </li>
  );
}

/** With the reader's session, which no link may hold. */
async function take(projectId: string, id: string, name: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${await accessToken()}`,
    'x-project-id': projectId,
  };
  const response = await fetch(`/exports/${id}/${name}`, { headers });
  if (!response.ok) throw new Error(Object(await response.json()).message);
  const file = await response.blob();
  download(name, file.type, file);
}
