// The methods that give and end a session: they set the cookie, and are sent without a token.

import { type Client, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { AuthService } from '../../proto/gen/public/auth/v1/auth_pb.js';
import { plainLoss } from '../client.ts';
import { endSession } from '../session.ts';

export const auth: Client<typeof AuthService> = createClient(
  AuthService,
  createConnectTransport({
    baseUrl: window.location.origin,
    useBinaryFormat: true,
    // The cookie of an answer is set though its page was left meanwhile.
    fetch: (input, init) => fetch(input, { ...init, keepalive: true }),
    interceptors: [
      (next) => (request) => {
        request.header.set('x-session', 'cookie');
        return next(request);
      },
      plainLoss,
    ],
  }),
);

/** Ends the session here, in the other tabs and at the service. */
export async function signOut(): Promise<void> {
  try {
    await auth.signOut({});
  } finally {
    endSession();
  }
}
