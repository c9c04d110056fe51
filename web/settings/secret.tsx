// A secret that the service shows once.

import { Code } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';

export function Secret(props: { title: string; secret: string; onClose: () => void }) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>Copy it now: it is kept as a hash only, and shown this once.</p>
      <Code text={props.secret} what="Secret" />
      <div class="row end">
        <button type="button" class="primary" onClick={props.onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}
