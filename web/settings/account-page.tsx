// The reader's own account: name, password, second factor, colours, the way out.

import { useState } from 'preact/hooks';
import { signOut } from '../account/auth-client.ts';
import { DeleteAccount } from '../deletions/delete-account.tsx';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { customersClient } from '../second-factor/customers-client.ts';
import { SecondFactor } from '../second-factor/second-factor.tsx';
import { session } from '../session.ts';
import { setTheme, theme } from '../shell/theme.ts';
import { toast } from '../ui/toasts.tsx';

export function Page() {
  const now = session.value;
  if (now.state !== 'signed-in') return null;
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Account</h1>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
      <section class="card">
        <h2>You</h2>
        <p class="hint">{now.person.email}</p>
        <Name id={now.person.id} name={now.person.displayName} />
      </section>
      <section class="card">
        <h2>Password</h2>
        <Password id={now.person.id} />
      </section>
      <section class="card">
        <h2>Second factor</h2>
        <SecondFactor />
      </section>
      <section class="card">
        <h2>Colours</h2>
        <div class="only-field">
          <Select
            label="Colours"
            hint="Kept in this browser."
            value={theme.value}
            options={[
              { value: 'system', name: 'As the system says' },
              { value: 'light', name: 'Light' },
              { value: 'dark', name: 'Dark' },
            ]}
            onValue={setTheme}
          />
        </div>
      </section>
      <DeleteAccount email={now.person.email} />
    </>
  );
}

function Name({ id, name }: { id: string; name: string }) {
  const [displayName, setDisplayName] = useState(name);
  const save = async (): Promise<void> => {
    await customersClient.update({ id, displayName });
    const now = session.peek();
    if (now.state === 'signed-in')
      session.value = { ...now, person: { ...now.person, displayName } };
    toast('Saved');
  };
  return (
    <Form action="Save" send={save} isReady={displayName.trim() !== ''}>
      <Field
        label="Name"
        autoComplete="name"
        maxLength={150}
        value={displayName}
        onValue={setDisplayName}
      />
    </Form>
  );
}

function Password({ id }: { id: string }) {
  const [currentPassword, setCurrentPassword] = useState('');
  const [password, setPassword] = useState('');
  const save = async (): Promise<void> => {
    await customersClient.update({ id, password, ...(currentPassword ? { currentPassword } : {}) });
    setCurrentPassword('');
    setPassword('');
    toast('The password is changed');
  };
  return (
    <Form action="Change the password" send={save} isReady={password !== ''}>
      <Field
        label="Current password"
        type="password"
        autoComplete="current-password"
        hint="Leave it empty where the account never had one."
        value={currentPassword}
        onValue={setCurrentPassword}
      />
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        minLength={8}
        maxLength={128}
        value={password}
        onValue={setPassword}
      />
    </Form>
  );
}
