// Ingest's one question to platform/access: which project a call belongs to. The rules are the table of access;
// ingest adds only which headers it looks at, and how an access decision becomes a refusal.

import type { Authenticate, Authentication } from '../../platform/access/authenticate.ts';
import type { CallerRequest } from '../../platform/http/caller-request.ts';
import { type Refusal, refusal } from './answer.ts';

/** The project and key that a call's credential belongs to. */
export interface Principal {
  projectId: string;
  credential: 'public' | 'private';
  /** The limit on events counts by it. */
  keyId: string;
}

/**
 * `method` names a row of the table of access; `apiKeyParameter` is the URL's. At once where memory can tell, a promise
 * where the broker has to be asked. Throws where the table lets callers in without a project.
 */
export function authenticateCall(
  authenticate: Authenticate,
  method: string,
  { headers }: CallerRequest,
  apiKeyParameter: string | undefined,
): Principal | Refusal | Promise<Principal | Refusal> {
  const decision = authenticate(method, {
    apiKey: textOf(headers['x-api-key']),
    authorization: headers.authorization,
    projectIdHeader: textOf(headers['x-project-id']),
    apiKeyParam: apiKeyParameter,
  });
  return decision instanceof Promise
    ? decision.then(principalOrRefusal)
    : principalOrRefusal(decision);
}

export function principalOrRefusal(decision: Authentication): Principal | Refusal {
  if (decision.kind === 'ok') return decision.principal;
  if (decision.kind === 'refused') return refusal(decision.code, decision.code, decision.message);
  throw new Error('the table of access lets callers in without a project');
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
