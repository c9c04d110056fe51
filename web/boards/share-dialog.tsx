// The links of a board: made with an end and a password, shown once, revoked.

import { useState } from 'preact/hooks';
import type { Share } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { inProject } from '../client.ts';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { useLastDay } from '../time/last-day.tsx';
import { Time, toDate } from '../time/time.tsx';
import { Code } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { dashboards } from './board-data.ts';

export function ShareDialog(props: { projectId: string; boardId: string; onClose: () => void }) {
  const { projectId, boardId } = props;
  const { data, error, reload } = useResource(`shares ${projectId} ${boardId}`, (end) =>
    dashboards.listShares({ dashboardId: boardId }, inProject(projectId, end)),
  );
  const [link, setLink] = useState<string>();
  const [fault, setFault] = useState<unknown>();
  const revoke = async ({ id, displayName }: Share): Promise<void> => {
    try {
      await dashboards.revokeShare({ id }, inProject(projectId));
      toast(`Revoked: ${displayName || 'link'}`);
      reload();
    } catch (cause) {
      setFault(cause);
    }
  };
  return (
    <Dialog title="Share this board" onClose={props.onClose}>
      <p class="hint">
        Whoever has a link sees this board with its saved range, without an account. Persons in it
        are not named, and tiles that are made in SQL are left out.
      </p>
      {link ? (
        <section class="stack" aria-label="The new link">
          <h3>The new link</h3>
          <p>It is shown now and never again: copy it.</p>
          <Code what="Link" text={link} />
        </section>
      ) : (
        <NewShare
          projectId={projectId}
          boardId={boardId}
          onMade={(token) => {
            setLink(`${window.location.origin}/s/${token}`);
            reload();
          }}
        />
      )}
      <h3>Links</h3>
      <Fault cause={error ?? fault} retry={reload} />
      {data ? (
        <ul class="shares">
          {data.shares.map((share) => (
            <li key={share.id} class="row between">
              <span class="grow">
                {share.displayName || 'Without a name'}{' '}
                {share.hasPassword ? <span class="badge">password</span> : null}
                <br />
                <small>
                  Made <Time at={share.createTime} />, <End share={share} />
                </small>
              </span>
              <button
                type="button"
                aria-label={`Revoke ${share.displayName || 'the link without a name'}`}
                onClick={() => void revoke(share)}
              >
                Revoke
              </button>
            </li>
          ))}
          {data.shares.length === 0 ? <li class="hint">There is no link yet.</li> : null}
        </ul>
      ) : error ? null : (
        <Loading of="links" />
      )}
    </Dialog>
  );
}

function End({ share: { expireTime } }: { share: Share }) {
  if (!expireTime) return <>never ends</>;
  const isOver = toDate(expireTime).getTime() < Date.now();
  return (
    <>
      {isOver ? 'ended' : 'ends'} <Time at={expireTime} />
    </>
  );
}

function NewShare(props: { projectId: string; boardId: string; onMade: (token: string) => void }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const end = useLastDay();
  const send = async (): Promise<void> => {
    const { token } = await dashboards.createShare(
      {
        dashboardId: props.boardId,
        displayName: name,
        password,
        ...(end.expireTime && { expireTime: end.expireTime }),
      },
      inProject(props.projectId),
    );
    props.onMade(token);
  };
  const isShort = password !== '' && password.length < 8;
  return (
    <Form action="Make a link" send={send} isReady={!isShort && !end.isNoDay}>
      <Field
        label="Name"
        value={name}
        onValue={setName}
        maxLength={150}
        hint="For you: whom the link is for."
      />
      <div class="row">
        {end.field}
        <Field
          label="Password"
          type="password"
          autoComplete="new-password"
          value={password}
          onValue={setPassword}
          maxLength={128}
          hint="Empty: it asks for none."
          fault={isShort ? 'At least 8 characters.' : undefined}
        />
      </div>
    </Form>
  );
}
