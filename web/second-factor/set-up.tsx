// Setting a second factor up: the password, the app with its first code, the recovery codes.

import { useState } from 'preact/hooks';
import type { StartSecondFactorResponse } from '../../proto/gen/dashboard/customers/v1/customers_pb.js';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { Code } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { customersClient } from './customers-client.ts';
import { QrCode } from './qr-code.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

/** `isOn`: another one takes the place of the present one, whose code is asked for. */
export function SetUp({ isOn, onClose }: { isOn: boolean; onClose: () => void }) {
  const [started, setStarted] = useState<StartSecondFactorResponse>();
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <Dialog title="Set up a second factor" onClose={onClose}>
      {codes ? (
        <RecoveryCodes codes={codes} onClose={onClose} />
      ) : started ? (
        <App started={started} onDone={setCodes} />
      ) : (
        <Proof isOn={isOn} onDone={setStarted} />
      )}
    </Dialog>
  );
}

function Proof(props: { isOn: boolean; onDone: (started: StartSecondFactorResponse) => void }) {
  const [text, setText] = useState('');
  const send = async (): Promise<void> =>
    props.onDone(
      await customersClient.startSecondFactor(
        props.isOn ? { code: text } : { currentPassword: text },
      ),
    );
  return (
    <Form action="Go on" send={send}>
      {props.isOn ? (
        <Field
          label="Present code"
          hint="Six digits of the app that you have now, or a recovery code."
          autoComplete="one-time-code"
          value={text}
          onValue={setText}
        />
      ) : (
        <Field
          label="Current password"
          type="password"
          autoComplete="current-password"
          hint="Leave it empty where the account never had one."
          value={text}
          onValue={setText}
        />
      )}
    </Form>
  );
}

function App(props: {
  started: StartSecondFactorResponse;
  onDone: (codes: readonly string[]) => void;
}) {
  const { secret, uri } = props.started;
  const [code, setCode] = useState('');
  const send = async (): Promise<void> => {
    const { recoveryCodes } = await customersClient.confirmSecondFactor({ code });
    props.onDone(recoveryCodes);
  };
  return (
    <>
      <p>Let an app of one-time codes read this, or type the secret into it.</p>
      <QrCode text={uri} label="QR code for the app" />
      <Code text={secret} what="App secret" />
      <Form action="Turn it on" send={send} isReady={code.trim() !== ''}>
        <Field
          label="Code"
          hint="The six digits that the app shows now."
          autoComplete="one-time-code"
          required
          maxLength={40}
          value={code}
          onValue={setCode}
        />
      </Form>
    </>
  );
}
