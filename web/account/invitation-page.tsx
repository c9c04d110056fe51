// An invitation, by the link that was mailed or handed over: it says what accepting means, and a click accepts it.

import { Code, ConnectError } from '@connectrpc/connect';
import { useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { address, navigate } from '../router.ts';
import { session, takeSession } from '../session.ts';
import { loadWorkspace, orgsClient } from '../workspace.ts';
import { auth } from './auth-client.ts';
import { CardPage } from './card-page.tsx';
import { pathAfter, secondStepPath } from './second-step.ts';

export function Page() {
  const [token] = useState(address.peek().query.get('token') ?? '');
  const now = session.value;
  if (token === '')
    return (
      <CardPage title="Invitation">
        <p>The address has no invitation. Open the link whole, as you got it.</p>
        <a href="/">Your projects</a>
      </CardPage>
    );
  return now.state === 'signed-in' ? (
    <Accept token={token} email={now.person.email} />
  ) : (
    <SignInFirst />
  );
}

function Accept({ token, email }: { token: string; email: string }) {
  const accept = async (): Promise<void> => {
    try {
      await orgsClient.acceptInvite({ token });
    } catch (cause) {
      const error = ConnectError.from(cause);
      if (error.code !== Code.NotFound) throw error;
      throw new ConnectError(
        `This invitation is used up, revoked, older than 7 days, or sent to another address than ${email}.`,
        Code.FailedPrecondition,
      );
    }
    await loadWorkspace();
    navigate('/', { replace: true });
  };
  return (
    <CardPage title="Join the organization">
      <p>
        You are signed in as <strong>{email}</strong>. The invitation counts for the address that it
        was sent to.
      </p>
      <Form action="Accept the invitation" send={accept}>
        {null}
      </Form>
      <a href="/">Not now</a>
    </CardPage>
  );
}

/** Stays on this address, so that the invitation is accepted afterwards. */
function SignInFirst() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isNew, setNew] = useState(true);
  const send = async (): Promise<void> => {
    if (isNew) {
      takeSession(await auth.signUp({ email, password }));
      return;
    }
    const { pathname, search } = window.location;
    const path = pathAfter(await auth.signIn({ email, password }), pathname + search);
    if (path === secondStepPath) navigate(path, { replace: true });
  };
  return (
    <CardPage title="You are invited">
      <p>
        {isNew
          ? 'Make an account with the address that the invitation was sent to.'
          : 'Sign in with the address that the invitation was sent to.'}
      </p>
      <Form action={isNew ? 'Create the account' : 'Sign in'} send={send}>
        <Field
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          value={email}
          onValue={setEmail}
        />
        <Field
          label="Password"
          type="password"
          autoComplete={isNew ? 'new-password' : 'current-password'}
          required
          value={password}
          onValue={setPassword}
        />
      </Form>
      <button type="button" class="link" onClick={() => setNew(!isNew)}>
        {isNew ? 'I have an account' : 'I have no account'}
      </button>
    </CardPage>
  );
}
