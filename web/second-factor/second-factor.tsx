// The reader's second factor: whether there is one, setting it up, new recovery codes, the end of it.

import { useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { Time } from '../time/time.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { loadWorkspace } from '../workspace.ts';
import { customersClient } from './customers-client.ts';
import { RecoveryCodes } from './recovery-codes.tsx';
import { SetUp } from './set-up.tsx';

type Step = 'set up' | 'new codes' | 'take away';

export function SecondFactor() {
  const found = useResource('second factor', (signal) =>
    customersClient.getSecondFactor({}, { signal }),
  );
  const [step, setStep] = useState<Step>();
  const close = (): void => {
    setStep(undefined);
    found.reload();
    // An organization may open or close by it.
    void loadWorkspace();
  };
  if (!found.data) {
    return found.error ? (
      <Fault cause={found.error} retry={found.reload} />
    ) : (
      <Loading of="your second factor" />
    );
  }
  const { secondFactor } = found.data;
  return (
    <>
      <p class="hint">
        {secondFactor ? (
          <>
            On since <Time at={secondFactor.createTime} />, with {secondFactor.recoveryCodesLeft}{' '}
            recovery codes left: signing in takes a code of your app besides.
          </>
        ) : (
          'Off: the password, or a link in a mail, is enough to sign in.'
        )}
      </p>
      <div class="row">
        <button type="button" onClick={() => setStep('set up')}>
          {secondFactor ? 'Use another app' : 'Set up a second factor'}
        </button>
        {secondFactor ? (
          <>
            <button type="button" onClick={() => setStep('new codes')}>
              New recovery codes
            </button>
            <button type="button" class="danger" onClick={() => setStep('take away')}>
              Turn it off
            </button>
          </>
        ) : null}
      </div>
      {step === 'set up' ? <SetUp isOn={secondFactor !== undefined} onClose={close} /> : null}
      {step === 'new codes' ? <NewCodes onClose={close} /> : null}
      {step === 'take away' ? <TakeAway onClose={close} /> : null}
    </>
  );
}

function NewCodes({ onClose }: { onClose: () => void }) {
  const [codes, setCodes] = useState<readonly string[]>();
  const send = async (code: string): Promise<void> => {
    const { recoveryCodes } = await customersClient.renewRecoveryCodes({ code });
    setCodes(recoveryCodes);
  };
  return (
    <Dialog title="New recovery codes" onClose={onClose}>
      {codes ? (
        <RecoveryCodes codes={codes} onClose={onClose} />
      ) : (
        <WithCode action="Make new ones" send={send}>
          The codes that you have now open nothing any more.
        </WithCode>
      )}
    </Dialog>
  );
}

function TakeAway({ onClose }: { onClose: () => void }) {
  const send = async (code: string): Promise<void> => {
    await customersClient.removeSecondFactor({ code });
    toast('The second factor is off');
    onClose();
  };
  return (
    <Dialog title="Turn the second factor off" onClose={onClose}>
      <WithCode action="Turn it off" send={send}>
        An organization that asks for a second factor closes to you.
      </WithCode>
    </Dialog>
  );
}

function WithCode(props: {
  action: string;
  send: (code: string) => Promise<void>;
  children: string;
}) {
  const [code, setCode] = useState('');
  return (
    <Form action={props.action} send={() => props.send(code)} isReady={code.trim() !== ''}>
      <p class="hint">{props.children}</p>
      <Field
        label="Code"
        hint="Six digits of your app, or a recovery code."
        autoComplete="one-time-code"
        required
        maxLength={40}
        value={code}
        onValue={setCode}
      />
    </Form>
  );
}
