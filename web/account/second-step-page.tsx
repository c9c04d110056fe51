// The second step of a sign-in: a code of the app, or one on paper.

import { useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { navigate } from '../router.ts';
import { auth } from './auth-client.ts';
import { CardPage } from './card-page.tsx';
import { firstStep, pathAfterSecondStep } from './second-step.ts';

export function Page() {
  const [first] = useState(firstStep);
  const [code, setCode] = useState('');
  if (!first)
    return (
      <CardPage title="Sign in again">
        <p>The second step of a sign-in follows the first one in the same tab.</p>
        <a class="button" href="/sign-in">
          Sign in
        </a>
      </CardPage>
    );
  const send = async (): Promise<void> => {
    const { challengeToken } = first;
    const answer = await auth.signInWithSecondFactor({ challengeToken, code });
    navigate(pathAfterSecondStep(answer, first), { replace: true });
  };
  return (
    <CardPage title="Second step">
      <Form action="Sign in" send={send} isReady={code.trim() !== ''}>
        <Field
          label="Code"
          hint="The six digits that your app shows now, or one of your recovery codes."
          autoComplete="one-time-code"
          required
          maxLength={40}
          value={code}
          onValue={setCode}
        />
      </Form>
      <p class="hint">
        Both lost? Whoever runs the service can reset your second factor once they know that it is
        you.
      </p>
      <a href="/sign-in">Begin again</a>
    </CardPage>
  );
}
