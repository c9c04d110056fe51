// At a real broker whose talk is overheard: a message that is given back later is kept until then, because the broker
// counts a delay of its own by the clock on the wall.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { createLog } from '../../../platform/log.ts';
import {
  dueConsumer,
  dueStream,
  dueSubject,
  queueConsumerConfig,
} from '../../../platform/webhooks/webhook-streams.ts';
import { eventually } from '../../../test/harness/clients/client.ts';
import { operatorUrl } from '../../../test/harness/servers/broker.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { HeldMessages } from './held-messages.ts';
import { ensureQueueConsumer } from './queue-consumer.ts';
import { openQueuePuller, type QueuedMessage } from './queue-puller.ts';

const broker = useBroker();
let connection: NatsConnection;
let overhearing: NatsConnection;
beforeAll(async () => {
  const log = createLog('silent');
  connection = await connectBroker(broker.url, log);
  overhearing = await connectBroker(operatorUrl(broker), log);
  await ensureTopology(connection, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
});
afterAll(async () => {
  await overhearing?.close();
  await connection?.close();
});

it('keeps a message until it gives it back, and says meanwhile that it is worked on', async () => {
  // Longer than a busy machine takes to say that it works on the message.
  const ackWaitMs = 3_000;
  const consumer = dueConsumer('first');
  const config = queueConsumerConfig(consumer, dueSubject('first', '*'), 10, ackWaitMs);
  await ensureQueueConsumer(connection, dueStream, config);
  const answers: string[] = [];
  overhearing.subscribe('$JS.ACK.>', {
    callback: (_, message) => void answers.push(message.string()),
  });
  await overhearing.flush();
  const held = new HeldMessages(connection, ackWaitMs);
  const received: QueuedMessage[] = [];
  const puller = openQueuePuller({
    ...{ connection, stream: dueStream, consumer, wants: () => 5 },
    onMessage: (message) => {
      if (held.take(message)) received.push(message);
    },
  });
  const arrived = (count: number) =>
    eventually(
      async () => received.length,
      (found) => found === count,
    );
  connection.publish(dueSubject('first', 'webhook'), 'content');
  await arrived(1);
  const key = received[0]?.key ?? expect.fail();
  held.giveBack(key, 15_000);
  // Longer than the broker waits for a word.
  await delay(7_500);
  expect([received.length, held.count]).toEqual([1, 1]);
  await arrived(2);
  held.ack(key);
  await eventually(
    async () => answers.at(-1),
    (last) => last === '+ACK',
  );
  expect(new Set(answers)).toEqual(new Set(['+WPI', '-NAK', '+ACK']));
  await puller.stop();
  held.stop();
});
