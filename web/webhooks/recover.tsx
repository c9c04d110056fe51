// Every delivery of a time range once more: after an endpoint was away.

import { useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { toast } from '../ui/toasts.tsx';
import { webhooksApi } from './api.ts';

const hourMs = 3_600_000;

/** The form that `datetime-local` takes, in the browser's own zone: the field knows no other. */
function localText(moment: Date): string {
  const offsetMs = moment.getTimezoneOffset() * 60_000;
  return new Date(moment.getTime() - offsetMs).toISOString().slice(0, 16);
}

export function Recover(props: { orgId: string; webhookId: string; onClose: () => void }) {
  const [from, setFrom] = useState(localText(new Date(Date.now() - 24 * hourMs)));
  const [to, setTo] = useState(localText(new Date()));
  const send = async (): Promise<void> => {
    const answer = await webhooksApi.recover(
      props.orgId,
      props.webhookId,
      new Date(from),
      new Date(to),
    );
    const count = answer.delivery_ids?.length ?? 0;
    toast(`${plural(count, 'failed delivery').replace('deliverys', 'deliveries')} sent once more`);
    props.onClose();
  };
  return (
    <Dialog title="Redeliver a time range" onClose={props.onClose}>
      <p>
        Deliveries that failed or were held back in the range are sent once more, under their own
        ids.
      </p>
      <Form action="Redeliver them" send={send} isReady={from < to}>
        <div class="row">
          <Field label="From" type="datetime-local" value={from} onValue={setFrom} />
          <Field label="To" type="datetime-local" value={to} onValue={setTo} />
        </div>
        <p class="hint">In the time zone of this browser.</p>
      </Form>
    </Dialog>
  );
}
