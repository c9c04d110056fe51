// What the service may do at the broker: all that it does, and nothing else. It may not purge or delete a stream, nor
// overhear another client. setup/nats.conf says the same for a broker of one's own.

import { buckets } from '../broker/buckets.ts';
import { publishedSubjects } from '../broker/streams.ts';

export const servicePermissions = {
  publish: {
    allow: [
      ...publishedSubjects,
      '$KV.>',
      '$JS.ACK.>',
      '$JS.FC.>',
      '$JS.API.INFO',
      '$JS.API.STREAM.CREATE.*',
      '$JS.API.STREAM.INFO.*',
      // Limits follow the disk. The broker has no way to allow this change of a stream and refuse others.
      '$JS.API.STREAM.UPDATE.*',
      '$JS.API.STREAM.MSG.GET.*',
      // A salt is erased when its day is over.
      `$JS.API.STREAM.MSG.DELETE.KV_${buckets.salts}`,
      '$JS.API.CONSUMER.CREATE.>',
      '$JS.API.CONSUMER.DURABLE.CREATE.*.*',
      '$JS.API.CONSUMER.INFO.*.*',
      '$JS.API.CONSUMER.DELETE.*.*',
      '$JS.API.CONSUMER.MSG.NEXT.*.*',
    ],
  },
  subscribe: { allow: ['_INBOX.>'] },
} as const;
