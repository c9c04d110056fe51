// Where a provider sends the browser back to.

import { ConnectError } from '@connectrpc/connect';
import { useEffect, useState } from 'preact/hooks';
import { address, navigate } from '../router.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { CardPage } from './card-page.tsx';
import { comeBack } from './oauth.ts';

export function Page() {
  const [fault, setFault] = useState<unknown>();
  useEffect(() => {
    comeBack(address.peek().query).then(
      (to) => navigate(to, { replace: true }),
      (cause: unknown) => setFault(cause),
    );
  }, []);
  return (
    <CardPage title="Signing in">
      {fault === undefined ? <Loading of="your account" /> : <WhyNot cause={fault} />}
      <a href="/sign-in">Sign in another way</a>
    </CardPage>
  );
}

/** What the browser or the provider has done wrong says what to do; no log of the service has more of it. */
function WhyNot({ cause }: { cause: unknown }) {
  return cause instanceof Error && !(cause instanceof ConnectError) ? (
    <p class="fault" role="alert">
      {cause.message}
    </p>
  ) : (
    <Fault cause={cause} />
  );
}
