// The links of a board: shown once when they are made, then listed until they are revoked.

import { useState } from 'preact/hooks';
import type { Dashboard, Share } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { inProject } from '../../client.ts';
import { useResource } from '../../resource.ts';
import { Time, toDate } from '../../time/time.tsx';
import { Code } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Loading } from '../../ui/loading.tsx';
import { toast } from '../../ui/toasts.tsx';
import { dashboards } from '../board-data.ts';
import { EmbedSnippet } from './embed-snippet.tsx';
import { type MadeShare, NewShare } from './new-share.tsx';

export function ShareDialog(props: {
  projectId: string;
  board: Pick<Dashboard, 'id' | 'displayName'>;
  onClose: () => void;
}) {
  const { projectId, board } = props;
  const boardId = board.id;
  const { data, error, reload } = useResource(`shares ${projectId} ${boardId}`, (end) =>
    dashboards.listShares({ dashboardId: boardId }, inProject(projectId, end)),
  );
  const [made, setMade] = useState<MadeShare>();
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
        Whoever has a link sees this board with its saved range, without an account. Users in it are
        not named, and tiles that are made in SQL are left out.
      </p>
      {made ? (
        <section class="stack" aria-label="The new link">
          <h3>The new link</h3>
          <p>It is shown now and never again: copy it.</p>
          <Code what="Link" text={made.link} />
          {made.isEmbedded ? <EmbedSnippet link={made.link} title={board.displayName} /> : null}
        </section>
      ) : (
        <NewShare
          projectId={projectId}
          boardId={boardId}
          onMade={(share) => {
            setMade(share);
            reload();
          }}
        />
      )}
      <h3>Links</h3>
      <Fault cause={error ?? fault} retry={reload} />
      {data ? (
        <Shares shares={data.shares} onRevoke={(share) => void revoke(share)} />
      ) : error ? null : (
        <Loading of="links" />
      )}
    </Dialog>
  );
}

function Shares(props: { shares: readonly Share[]; onRevoke: (share: Share) => void }) {
  return (
    <ul class="shares">
      {props.shares.map((share) => (
        <li key={share.id} class="row between">
          <span class="grow">
            {share.displayName || 'Without a name'}{' '}
            {share.hasPassword ? <span class="badge">password</span> : null}{' '}
            {share.embedOrigins.length > 0 ? <span class="badge">embedding</span> : null}
            <br />
            <small>
              Made <Time at={share.createTime} />, <End share={share} />
              {share.embedOrigins.length > 0 ? (
                <>, in frames of {share.embedOrigins.join(', ')}</>
              ) : null}
            </small>
          </span>
          <button
            type="button"
            aria-label={`Revoke ${share.displayName || 'the link without a name'}`}
            onClick={() => props.onRevoke(share)}
          >
            Revoke
          </button>
        </li>
      ))}
      {props.shares.length === 0 ? <li class="hint">There is no link yet.</li> : null}
    </ul>
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
