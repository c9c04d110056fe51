// The reference of publishing, for benches only: a message a request, each published through the JetStream
// client, which makes an inbox, a promise and a timer for it.

import type { Publisher } from '../../ingest/publish/publish.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { eventsSubject } from '../../platform/broker/streams.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';

export type OpenPublisher = Pick<Publisher, 'publish' | 'close'>;

export function createPublishEach(nats: NatsConnection): OpenPublisher {
  const stream = nats.jetstream();
  return {
    async publish(shard, request) {
      await stream.publish(eventsSubject(shard), encodeFrame([request]));
      return 'stored';
    },
    close() {},
  };
}
