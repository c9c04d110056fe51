// A real OpenID Connect provider for one test, with a browser that signs in there by itself.

import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { listen } from '../listen.ts';

export interface OidcPerson {
  email?: string;
  emailVerified?: boolean;
  name?: string;
  /** Told in place of the person's own id. */
  subject?: string;
}

export interface TestOidc {
  issuer: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  /** The provider's id of the person who signs in next. */
  people: Map<string, OidcPerson>;
  /** Opens the page in a browser, signs in as this person, and returns the URL to which the browser is sent back. */
  signIn(authorizationUrl: string, subject: string): Promise<URL>;
  close(): Promise<void>;
}

export async function startOidc(): Promise<TestOidc> {
  const people = new Map<string, OidcPerson>();
  const clientId = 'millrace';
  const clientSecret = 'a secret of at least thirty-two characters';
  const redirectUri = 'https://dashboard.test/callback';
  let subject = '';
  const server = createServer();
  const port = await listen(server);
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        subject_type: 'pairwise',
      },
    ],
    subjectTypes: ['pairwise'],
    pairwiseIdentifier: (_, accountId) => people.get(accountId)?.subject ?? accountId,
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['only for tests'] },
    interactions: { url: (_, interaction) => `/sign-in/${interaction.uid}` },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => {
        const { email, emailVerified, name } = people.get(accountId) ?? {};
        return {
          sub: accountId,
          ...(email !== undefined && { email, email_verified: emailVerified ?? false }),
          ...(name !== undefined && { name }),
        };
      },
    }),
    async loadExistingGrant(context) {
      const { client, session } = context.oidc;
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/sign-in/')) return void handle(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: subject } });
  });
  return {
    issuer,
    clientId,
    clientSecret,
    redirectUri,
    people,
    signIn(authorizationUrl, person) {
      subject = person;
      return browse(new URL(authorizationUrl), redirectUri);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Follows redirects with cookies until one leads to `target`. */
async function browse(start: URL, target: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hops = 0; hops < 10; hops++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${response.status} ${await response.text()}`);
    url = new URL(location, url);
    if (url.href.startsWith(target)) return url;
  }
  throw new Error('redirected for ever');
}
