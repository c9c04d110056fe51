// Who may export: whoever may list the same, with a private key or as a member. Decided before anything else of the
// request is looked at, and again and again while the export runs.

import type { IncomingMessage } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import { refusalError } from '../../platform/access/auth-interceptor.ts';
import type {
  AccessRefusal,
  Authenticate,
  Authentication,
} from '../../platform/access/authenticate.ts';
import type { CredentialEnd } from '../open-streams.ts';

const listEvents = 'shared.activity.v1.ActivityService/List';
const listProfiles = 'shared.profiles.v1.ProfilesService/List';

/**
 * Throws the refusal. The project is the credential's, or a member's own choice: `project`, or x-project-id. `asked`:
 * the method that the credential must open; the list of what `query` asks for unless given.
 */
export async function requireAccess(
  authenticate: Authenticate,
  { headers }: IncomingMessage,
  query: string,
  asked?: string,
): Promise<{ projectId: string; credentialEnd: CredentialEnd }> {
  const params = new URLSearchParams(query);
  const ofRows = (params.get('what') ?? 'events') === 'events' ? listEvents : listProfiles;
  const method = asked ?? ofRows;
  const credentials = {
    apiKey: textOf(headers['x-api-key']),
    authorization: headers.authorization,
    projectIdHeader: params.get('project') || textOf(headers['x-project-id']),
  };
  const check = async (): Promise<Authentication> => authenticate(method, credentials);
  const found = await check();
  if (found.kind === 'refused') throw refusalError(found);
  if (found.kind !== 'ok') throw new ConnectError('the project is not known', Code.Internal);
  return {
    projectId: found.principal.projectId,
    async credentialEnd() {
      const now = await check();
      return now.kind === 'refused' ? endOf(now) : undefined;
    },
  };
}

function endOf(refusal: AccessRefusal): ConnectError {
  if (refusal.code === 'unavailable') return refusalError(refusal);
  return new ConnectError('the credential opens this export no more', Code.Unauthenticated);
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
