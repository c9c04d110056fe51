// Two requests redeem one magic link at once, on a real broker.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { createMagicLinks, type MagicLinkRecord, readMagicLink } from './magic-link.ts';

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
  const token = await createMagicLinks(bucket, clock).issue('ada@example.com');
  const links = createMagicLinks(gated, clock);
  const redeemed = await Promise.all([links.redeem(token), links.redeem(token)]);
  expect(redeemed.filter((email) => email !== undefined)).toEqual(['ada@example.com']);
});
