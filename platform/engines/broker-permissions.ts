// What the service may do at the broker: all that it does, and nothing else. It may not purge or delete a stream, nor
// overhear other clients but in what live views show. setup/nats.conf says the same for a broker of one's own.

import { buckets } from '../broker/buckets.ts';
import { eventsSubjects, publishedSubjects } from '../broker/streams.ts';
import { writersHoldSubject } from '../ledger/writers-hold.ts';
import { liveSubjects } from '../live/live-subjects.ts';
import { webhookSubjects } from '../webhooks/webhook-streams.ts';

/** A rule cannot name the streams of all shards, so single messages may be deleted from all streams but these. */
const keptStreams = Object.values(buckets)
  .filter((name) => name !== buckets.salts)
  .map((name) => `KV_${name}`);

export const servicePermissions = {
  publish: {
    allow: [
      ...publishedSubjects,
      ...liveSubjects,
      // The erasure of a person changes tables at one moment, as a backup takes them.
      writersHoldSubject,
      ...webhookSubjects,
      '$KV.>',
      '$JS.ACK.>',
      '$JS.FC.>',
      '$JS.API.INFO',
      '$JS.API.STREAM.CREATE.*',
      '$JS.API.STREAM.INFO.*',
      // Limits follow the disk. The broker has no way to allow this change of a stream and refuse others.
      '$JS.API.STREAM.UPDATE.*',
      '$JS.API.STREAM.MSG.GET.*',
      // Messages that are done and that a killed broker has kept, a salt when its day is over, and an erased person's.
      '$JS.API.STREAM.MSG.DELETE.*',
      '$JS.API.CONSUMER.CREATE.>',
      '$JS.API.CONSUMER.DURABLE.CREATE.*.*',
      '$JS.API.CONSUMER.INFO.*.*',
      '$JS.API.CONSUMER.DELETE.*.*',
      '$JS.API.CONSUMER.MSG.NEXT.*.*',
    ],
    deny: keptStreams.map((name) => `$JS.API.STREAM.MSG.DELETE.${name}`),
  },
  subscribe: { allow: ['_INBOX.>', eventsSubjects, ...liveSubjects, writersHoldSubject] },
} as const;
