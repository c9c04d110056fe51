// A new account, with an organization and a project of its own.

import { useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { navigate } from '../router.ts';
import { takeSession } from '../session.ts';
import { auth } from './auth-client.ts';
import { CardPage } from './card-page.tsx';

export function Page() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [displayName, setDisplayName] = useState('');
  const [organizationName, setOrganizationName] = useState('');
  const send = async (): Promise<void> => {
    takeSession(await auth.signUp({ email, password, displayName, organizationName }));
    navigate('/?setup');
  };
  return (
    <CardPage title="Create an account">
      <Form action="Create the account" send={send}>
        <Field
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onValue={setEmail}
        />
        <Field
          label="Password"
          type="password"
          name="new-password"
          autoComplete="new-password"
          hint="8 to 128 characters, none of the commonest passwords."
          required
          minLength={8}
          maxLength={128}
          value={password}
          onValue={setPassword}
        />
        <Field
          label="Your name"
          autoComplete="name"
          maxLength={150}
          value={displayName}
          onValue={setDisplayName}
        />
        <Field
          label="Organization"
          autoComplete="organization"
          hint="Left empty, it is named after you."
          maxLength={150}
          value={organizationName}
          onValue={setOrganizationName}
        />
      </Form>
      <p>
        You have one? <a href="/sign-in">Sign in</a>
      </p>
    </CardPage>
  );
}
