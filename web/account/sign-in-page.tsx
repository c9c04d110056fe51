// Signing in with a password, or with a link that is mailed, or shown where no mail server is set. The link leads back
// here with its token.

import { useEffect, useState } from 'preact/hooks';
import type { SignInWithMagicLinkResponse } from '../../proto/gen/public/auth/v1/auth_pb.js';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { address, navigate } from '../router.ts';
import { session } from '../session.ts';
import { Code } from '../ui/copy.tsx';
import { Fault } from '../ui/fault.tsx';
import { auth } from './auth-client.ts';
import { CardPage } from './card-page.tsx';
import { leaveFor } from './oauth.ts';
import { pathAfter, secondStepPath } from './second-step.ts';

/** Where the reader wanted to go: a path of this origin, never another one's. */
export function wantedPath(): string {
  const to = address.peek().query.get('to') ?? '/';
  return /^\/(?![/\\])/.test(to) ? to : '/';
}

export function Page() {
  const [token] = useState(address.peek().query.get('token'));
  const isIn = session.value.state === 'signed-in';
  useEffect(() => {
    if (isIn && !token) navigate(wantedPath(), { replace: true });
  }, [isIn]);
  return token ? <FromMail token={token} /> : <WithPassword />;
}

/** Scanners of mail open links: only a person's click spends the token. */
function FromMail({ token }: { token: string }) {
  return (
    <CardPage title="Sign in to Millrace">
      <p>The link is good once, for 15 minutes.</p>
      <Form
        action="Sign in"
        send={async () => {
          const answer = await auth.signInWithMagicLink({ token });
          navigate(pathAfter(answer, '/'), { replace: true });
        }}
      >
        {null}
      </Form>
      <a href="/sign-in">Another way to sign in</a>
    </CardPage>
  );
}

function WithPassword() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [asked, setAsked] = useState<SignInWithMagicLinkResponse>();
  const [byMail, setByMail] = useState(false);
  const send = async (): Promise<void> => {
    if (byMail) {
      setAsked(await auth.signInWithMagicLink({ email }));
      return;
    }
    const path = pathAfter(await auth.signIn({ email, password }), wantedPath());
    // With the session the page leads on by itself.
    if (path === secondStepPath) navigate(path, { replace: true });
  };
  if (asked) return <Asked email={email} answer={asked} onBack={() => setAsked(undefined)} />;
  return (
    <CardPage title="Sign in">
      <Form action={byMail ? 'Mail me a link' : 'Sign in'} send={send} isReady={email !== ''}>
        <Field
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onValue={setEmail}
        />
        {byMail ? null : (
          <Field
            label="Password"
            type="password"
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onValue={setPassword}
          />
        )}
      </Form>
      <Providers />
      <div class="row between">
        <button type="button" class="link" onClick={() => setByMail(!byMail)}>
          {byMail ? 'Use a password' : 'Mail me a link instead'}
        </button>
        <a href="/sign-up">Create an account</a>
      </div>
    </CardPage>
  );
}

/** Where the link is that was asked for. */
function Asked(props: { email: string; answer: SignInWithMagicLinkResponse; onBack: () => void }) {
  const { email, answer } = props;
  const title = answer.noMailServer ? 'No mail server is set' : 'Look into your mail';
  return (
    <CardPage title={title}>
      {answer.link === '' ? (
        <p role="status">
          If <strong>{email}</strong> can sign in here, a link{' '}
          {answer.noMailServer
            ? 'is in a file of the service’s data directory: ask whoever runs it. No mail goes out.'
            : 'is on its way.'}{' '}
          It is good once, for 15 minutes.
        </p>
      ) : (
        <>
          <p role="status">
            No mail goes out, so here is the link that signs <strong>{email}</strong> in. It is good
            once, for 15 minutes. Only pages on this machine show it.
          </p>
          <Code text={answer.link} what="Sign-in link" />
        </>
      )}
      <button type="button" onClick={props.onBack}>
        Another address
      </button>
    </CardPage>
  );
}

function Providers() {
  const list = useResource('oauth providers', (signal) => auth.listOAuthProviders({}, { signal }));
  const [fault, setFault] = useState<unknown>();
  const providers = list.data?.providers ?? [];
  if (providers.length === 0) return null;
  return (
    <div class="stack">
      {providers.map((provider) => (
        <button
          key={provider}
          type="button"
          onClick={() => void leaveFor(provider, wantedPath()).catch(setFault)}
        >
          Sign in with {provider}
        </button>
      ))}
      <Fault cause={fault} />
    </div>
  );
}
