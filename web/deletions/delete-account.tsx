// Deletes the reader's own account for good: by its password, or by a code where it has a second factor.

import { useState } from 'preact/hooks';
import { signOut } from '../account/auth-client.ts';
import { Field } from '../fields/field.tsx';
import { navigate } from '../router.ts';
import { customersClient } from '../second-factor/customers-client.ts';
import { toast } from '../ui/toasts.tsx';
import { DeleteCard } from './delete-card.tsx';

export function DeleteAccount({ email }: { email: string }) {
  const [currentPassword, setCurrentPassword] = useState('');
  const [code, setCode] = useState('');
  const send = async (): Promise<void> => {
    await customersClient.delete({ email, currentPassword, code });
    await signOut();
    navigate('/sign-in');
    toast('Your account is deleted');
  };
  return (
    <DeleteCard
      heading="Delete the account"
      hint="With the organizations of which you are the only member, and their projects. Where others would be left without an admin, make one of them an admin first."
      action="Delete my account"
      label="Type your address to confirm"
      name={email}
      send={send}
    >
      <p>All your sessions end at once. Nobody can bring the account back.</p>
      <Field
        label="Password"
        type="password"
        autoComplete="current-password"
        hint="Leave it empty where the account has none, or a second factor."
        value={currentPassword}
        onValue={setCurrentPassword}
      />
      <Field
        label="Code"
        autoComplete="one-time-code"
        hint="Of your second factor, where you have one."
        value={code}
        onValue={setCode}
      />
    </DeleteCard>
  );
}
