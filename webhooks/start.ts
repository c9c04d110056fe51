// Starts what webhooks do by themselves: deliveries are sent, their attempts are written to the log, and admins are
// told of failures. The management interface is management/'s and is opened with the port.

import { buckets } from '../platform/broker/buckets.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { watchBucket } from '../platform/broker/watched-bucket.ts';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { SecretBox } from '../platform/secrets/secret-box.ts';
import type { WebhookBucket, WebhookDirectory } from '../platform/webhooks/webhook-directory.ts';
import type { WebhookSettings } from '../platform/webhooks/webhook-settings.ts';
import { readRecentAttempts } from './attempts/recent-attempts.ts';
import { startAttemptWriter } from './attempts/write-attempts.ts';
import { startDelivery } from './delivery/start.ts';
import { readNoticeRecord } from './notices/notice-record.ts';
import { createNotices, type NoticesOptions } from './notices/notices.ts';

interface WebhooksOptions {
  nats: NatsConnection;
  clickhouse: Pick<DatabaseClient, 'exec' | 'select'>;
  bucket: WebhookBucket;
  directory: WebhookDirectory;
  /** Whether somebody has asked for the project's deletion. */
  isDeleted(projectId: string): boolean;
  secretBox: Pick<SecretBox, 'open'>;
  settings: WebhookSettings;
  /** Who the admins of an organization are, and how they get mail. */
  mail: Pick<NoticesOptions, 'organization' | 'send'>;
  /** Where people reach the service, without a slash at the end. */
  publicUrl(): string;
  metrics: Metrics;
  clock: Clock;
  log: Log;
}

export interface Webhooks {
  ready(): boolean;
  /** Attempts in flight get some seconds; what they leave is done by another process or at the next start. */
  stop(): Promise<void>;
}

/** Resolves when deliveries are taken. Streams, buckets and tables must exist. */
export async function startWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { nats: connection, clickhouse, bucket, directory, settings, mail } = options;
  const { publicUrl, secretBox, metrics, clock, log } = options;
  const noticeBucket = await watchBucket(
    connection,
    await openBucket(connection, buckets.webhookNotices, readNoticeRecord),
    { log },
  );
  const notices = createNotices({
    bucket: noticeBucket,
    organization: (organizationId) => mail.organization(organizationId),
    send: (organizationId, message) => mail.send(organizationId, message),
    webhook: (organizationId, webhookId) =>
      directory.webhooksOf(organizationId).find(({ id }) => id === webhookId),
    ...{ publicUrl, clock, log },
  });
  const writer = startAttemptWriter({ connection, clickhouse, clock, log, metrics });
  const delivery = await startDelivery({
    ...{ connection, bucket, directory, secretBox, notices, metrics, clock, log },
    isDeleted: options.isDeleted,
    allowed: settings.allowedNetworks,
    logsAllowedBodies: settings.logsAllowedBodies,
    recentAttempts: () => readRecentAttempts({ connection, clickhouse, log }),
  });
  return {
    ready: () => delivery.ready() && writer.ready(),
    async stop() {
      await delivery.stop();
      await notices.stop();
      await writer.stop();
      await noticeBucket.close();
    },
  };
}
