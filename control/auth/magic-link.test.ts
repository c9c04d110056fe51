// Two requests redeem one magic link at once, on a real broker; links that find no place in the queue,
// and links that are for nobody.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createHandlerContext } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { createLog } from '../../platform/log.ts';
import {
  AuthService,
  SignInWithMagicLinkRequestSchema,
} from '../../proto/gen/public/auth/v1/auth_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { createAttempts, defaultAttemptLimits } from './attempts.ts';
import { createMagicLinks, type MagicLinkRecord, readMagicLink } from './magic-link.ts';
import { type MagicLinkDeps, signInWithMagicLink } from './sign-in/sign-in-with-magic-link.ts';

const broker = useBroker();
let connection: NatsConnection;
let bucket: RecordBucket<MagicLinkRecord>;
const clock = { nowMs: () => 0 };

beforeAll(async () => {
  connection = await connectBroker(broker.url, createLog('silent'));
  await connection.jetstream().views.kv('links');
  bucket = await openBucket(connection, 'links', readMagicLink);
});

afterAll(async () => {
  await connection.close();
});

it('of two requests that both read a link before either redeems it, one gets the address', async () => {
  let readers = 0;
  let open = () => {};
  const bothHaveRead = new Promise<void>((resolve) => {
    open = resolve;
  });
  const gated: RecordBucket<MagicLinkRecord> = {
    ...bucket,
    async get(key) {
      const found = await bucket.get(key);
      if (++readers === 2) open();
      await bothHaveRead;
      return found;
    },
  };
  const token = await createMagicLinks(bucket, clock).issue('ada@example.com', 'expected');
  const links = createMagicLinks(gated, clock);
  const redeemed = await Promise.all([links.redeem(token), links.redeem(token)]);
  expect(redeemed.filter((email) => email !== undefined)).toEqual(['ada@example.com']);
});

function neverAsked(): never {
  throw new Error('nobody may ask this');
}

/** Asks for a link to the address, by `deps` in place of those of an instance that has no such account. */
function ask(email: string, deps: Partial<MagicLinkDeps>) {
  return signInWithMagicLink(
    {
      magicLinks: createMagicLinks(bucket, clock),
      attempts: createAttempts(clock, defaultAttemptLimits),
      provenAddress: () => Promise.reject(new Error('nobody signs in')),
      signInCustomer: () => Promise.reject(new Error('nobody signs in')),
      customers: { findByEmail: () => undefined },
      mayJoin: () => false,
      outbox: { add: neverAsked, hasRoomForLink: () => true },
      instanceSender: { transport: { kind: 'resend', apiKey: 'x' }, fromAddress: 'a@b.c' },
      hasMailServer: true,
      onlyThisMachine: () => false,
      publicUrl: () => 'https://app.example.com',
      addressOf: () => undefined,
      ...deps,
    },
    create(SignInWithMagicLinkRequestSchema, { email }),
    createHandlerContext({
      service: AuthService,
      method: AuthService.method.signInWithMagicLink,
      protocolName: 'connect',
      requestMethod: 'POST',
      url: 'http://localhost/',
    }),
  );
}

it('asks for patience where the queue of sign-in links is full', async () => {
  const asked = ask('ada@example.com', {
    // Whose address it is must not matter to the answer.
    customers: { findByEmail: neverAsked },
    mayJoin: neverAsked,
    outbox: { add: neverAsked, hasRoomForLink: () => false },
  });
  const error = await asked.catch((thrown: unknown) => ConnectError.from(thrown));
  expect(error).toMatchObject({ code: Code.ResourceExhausted });
  expect(error instanceof ConnectError && error.metadata.get('retry-after')).toBe('60');
});

it('addresses that may have no account take one place in the bucket together', async () => {
  const places = async () => (await bucket.kv.status()).values;
  const before = await places();
  for (let number = 0; number < 20; number++) {
    expect(await ask(`nobody-${number}@example.com`, {})).toEqual({
      noMailServer: false,
      link: '',
    });
  }
  expect(await places()).toBeLessThanOrEqual(before + 1);
  let mails = 0;
  const add = () => ++mails > 0;
  const mayJoin = () => true;
  await ask('somebody@example.com', { mayJoin, outbox: { add, hasRoomForLink: () => true } });
  expect(mails).toBe(1);
  expect(await places()).toBeGreaterThan(before + 1);
});
