// Somebody else saved the board meanwhile: what they changed, and what becomes of the draft.

import type { Dashboard } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { changesBetween } from './draft.ts';

export function Conflict(props: {
  before: Dashboard;
  newest: Dashboard;
  onKeep: () => void;
  onTake: () => void;
}) {
  const { before, newest } = props;
  const changes = changesBetween(before, newest);
  return (
    <Dialog title="Somebody else saved this board" onClose={props.onKeep}>
      <p>
        Revision {newest.revision} was saved <Time at={newest.updateTime} />. You began with
        revision {before.revision}. Nothing of yours was saved yet, and nothing is lost.
      </p>
      <ul class="changes">
        {changes.length > 0 ? (
          changes.map((one) => <li key={one}>{one}</li>)
        ) : (
          <li>Its time or its filters changed.</li>
        )}
      </ul>
      <div class="row end">
        <button type="button" onClick={props.onTake}>
          Load theirs, drop my draft
        </button>
        <button type="button" class="primary" onClick={props.onKeep}>
          Keep my draft
        </button>
      </div>
      <p class="hint">With “Keep my draft” the next save replaces their tiles by yours.</p>
    </Dialog>
  );
}
