// AuthService.OpenDemo: one click into the demo on a fresh instance. The address that `npm start` prints has a token in
// its fragment, which browsers send nowhere; the page hands it over. It counts once, until the process that printed it
// ends, and only where nobody but this machine reaches the service.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { sha256 } from '../../platform/access/ids.ts';
import { hasTexts, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { OpenDemoRequest } from '../../proto/gen/public/auth/v1/auth_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import type {
  ChallengeAnswer,
  SignInAnswer,
  SignInCustomer,
} from '../auth/sign-in/sign-in-customer.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { requiredField } from '../request-fields.ts';
import { demoAdminEmail } from './demo-admin.ts';

/** In the instance bucket, because any process that serves the port may be asked. The newest start's token counts. */
export interface OpeningRecord {
  schemaVersion: 1;
  projectId: string;
  /** SHA-256 in hex; empty once the token is used. */
  tokenHash: string;
}

type Openings = Pick<RecordBucket<OpeningRecord>, 'get' | 'create' | 'update'>;

const recordKey = 'opening';
/** Each lost one means that another process started at that moment. */
const maxAttempts = 10;

/** What a start prints. */
export interface Opening {
  /** 256 bits, safe in a URL. */
  token: string;
  /** For the end of the process: ends the token, where it is still the newest and nobody has used it. */
  end(): Promise<void>;
}

/** Ends every token of before. */
export async function issueOpening(openings: Openings, projectId: string): Promise<Opening> {
  const token = randomBytes(32).toString('base64url');
  const record = { schemaVersion: 1, projectId, tokenHash: sha256(token) } as const;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const found = await openings.get(recordKey);
    const { kind } =
      found.kind === 'absent'
        ? await openings.create(recordKey, record)
        : await openings.update(recordKey, record, found.revision);
    if (kind === 'written') return { token, end: async () => void (await spend(openings, token)) };
  }
  throw new Error('other processes start all the time: start again');
}

export interface OpenDemoDeps {
  openings: Openings;
  onlyThisMachine: (context: HandlerContext) => boolean;
  attempts: Pick<Attempts, 'redeem'>;
  customers: Pick<CustomerStore, 'findByEmail'>;
  signInCustomer: SignInCustomer;
  addressOf: (context: HandlerContext) => string | undefined;
}

export async function openDemo(
  deps: OpenDemoDeps,
  request: OpenDemoRequest,
  context: HandlerContext,
): Promise<(SignInAnswer | ChallengeAnswer) & { projectId: string }> {
  if (!deps.onlyThisMachine(context)) {
    throw new ConnectError(
      'the demo opens by a click on this machine alone: sign in with the password',
      Code.PermissionDenied,
    );
  }
  const token = requiredField('token', request.token);
  deps.attempts.redeem(deps.addressOf(context));
  const admin = deps.customers.findByEmail(demoAdminEmail);
  const spent = admin && (await spend(deps.openings, token));
  if (admin === undefined || spent === undefined) {
    throw new ConnectError(
      'this address was used, or is of an earlier start: sign in with the password that the start printed',
      Code.Unauthenticated,
    );
  }
  return { ...(await deps.signInCustomer(admin)), projectId: spent.projectId };
}

/** The record for one caller: of two with the same token, one loses the compare-and-set. */
async function spend(openings: Openings, token: string): Promise<OpeningRecord | undefined> {
  const found = await openings.get(recordKey);
  if (found.kind !== 'found') return undefined;
  const expected = Buffer.from(found.record.tokenHash, 'hex');
  const sent = Buffer.from(sha256(token), 'hex');
  if (expected.length !== sent.length || !timingSafeEqual(expected, sent)) return undefined;
  const used = { ...found.record, tokenHash: '' };
  const { kind } = await openings.update(recordKey, used, found.revision);
  return kind === 'written' ? found.record : undefined;
}

/** Narrows parsed JSON to a record; undefined if it is none. */
export function readOpening(value: unknown): OpeningRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Reflect.get(value, 'schemaVersion') !== 1 || !hasTexts(value, ['projectId', 'tokenHash'])) {
    return undefined;
  }
  const { projectId, tokenHash } = value;
  return { schemaVersion: 1, projectId, tokenHash };
}
