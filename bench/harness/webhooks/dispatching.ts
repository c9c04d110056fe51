// The subject of the bench of webhooks in a process of its own: deliveries are sent as the service sends them, to
// endpoints of this machine.

import { connectBroker } from '../../../platform/broker/nats.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import {
  createWebhookDirectory,
  watchWebhooks,
} from '../../../platform/webhooks/webhook-directory.ts';
import { loopback, testSecret } from '../../../test/harness/webhooks/delivery-broker.ts';
import { startDelivery } from '../../../webhooks/delivery/start.ts';

/** Resolves when deliveries are taken. */
export async function startDispatching(natsUrl: string): Promise<void> {
  const log = createLog('warn');
  const connection = await connectBroker(natsUrl, log);
  const bucket = await watchWebhooks(connection, { log });
  await startDelivery({
    connection,
    bucket,
    directory: createWebhookDirectory(bucket),
    secretBox: { open: () => testSecret },
    allowed: loopback,
    logsAllowedBodies: false,
    notices: { exhausted() {}, pausing() {}, paused() {} },
    recentAttempts: async () => [],
    metrics: createMetrics(),
    clock: systemClock,
    log,
  });
}
