// A new link to a board: its name, its end, its password, and the sites that may show it in a frame.

import { useState } from 'preact/hooks';
import { inProject } from '../../client.ts';
import { Check, Field, TextArea } from '../../fields/field.tsx';
import { Form } from '../../fields/form.tsx';
import { linesOf } from '../../senders/lines.ts';
import { useLastDay } from '../../time/last-day.tsx';
import { dashboards } from '../board-data.ts';

/** A link is shown once: its address, and whether the sites of a list may frame it. */
export type MadeShare = { link: string; isEmbedded: boolean };

export function NewShare(props: {
  projectId: string;
  boardId: string;
  onMade: (share: MadeShare) => void;
}) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [isEmbedded, setEmbedded] = useState(false);
  const [origins, setOrigins] = useState('');
  const end = useLastDay();
  const embedOrigins = isEmbedded ? linesOf(origins) : [];
  const send = async (): Promise<void> => {
    const { token } = await dashboards.createShare(
      {
        dashboardId: props.boardId,
        displayName: name,
        password,
        embedOrigins,
        ...(end.expireTime && { expireTime: end.expireTime }),
      },
      inProject(props.projectId),
    );
    const link = `${window.location.origin}/s/${token}`;
    props.onMade({ link, isEmbedded: embedOrigins.length > 0 });
  };
  const isShort = password !== '' && password.length < 8;
  const lacksOrigin = isEmbedded && embedOrigins.length === 0;
  return (
    <Form action="Make a link" send={send} isReady={!isShort && !end.isNoDay && !lacksOrigin}>
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
      <Check label="Allow embedding" checked={isEmbedded} onValue={setEmbedded} />
      {isEmbedded ? (
        <TextArea
          label="Sites that may show the board in a frame"
          hint="One origin per line, at most 10: https://example.com, https://example.com:8443. Pages of other sites show nothing."
          rows={3}
          value={origins}
          onValue={setOrigins}
        />
      ) : null}
    </Form>
  );
}
