// The address that `npm start` prints: one click opens the demo project.

import { useState } from 'preact/hooks';
import { Form } from '../fields/form.tsx';
import { address, navigate } from '../router.ts';
import { auth } from './auth-client.ts';
import { CardPage } from './card-page.tsx';
import { pathAfter } from './second-step.ts';

export function Page() {
  const [token] = useState(address.peek().hash.slice(1));
  const open = async (): Promise<void> => {
    const answer = await auth.openDemo({ token });
    // A month shows the demo's weeks, with a month before it to compare.
    navigate(pathAfter(answer, `/p/${answer.projectId}?range=30d`), { replace: true });
  };
  return (
    <CardPage title="Millrace is running">
      <p>A demo project is ready on this machine. Nothing leaves it.</p>
      <Form action="Open the demo project" send={open} isReady={token !== ''}>
        {null}
      </Form>
      <p class="hint">
        The address is good once. Afterwards <a href="/sign-in">sign in</a> with the e-mail and the
        password that the start printed.
      </p>
    </CardPage>
  );
}
