// Makes one attempt of a delivery: opens the webhook's secret, signs, posts, and says what came of it. Whether a
// delivery may be attempted at all is decided before (admission.ts).

import type { BlockList } from 'node:net';
import type { Clock } from '../../../platform/clock.ts';
import {
  type ConnectorOptions,
  createEndpointConnector,
} from '../../../platform/endpoints/endpoint-connector.ts';
import { checkEndpointUrl, type EndpointUrl } from '../../../platform/endpoints/endpoint-url.ts';
import { createDnsInternet, type Internet } from '../../../platform/mail/internet.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { Delivery } from '../../../platform/webhooks/delivery.ts';
import type { OwnedWebhook } from '../../../platform/webhooks/webhook-directory.ts';
import {
  type WebhookRecord,
  webhookSecretPurpose,
} from '../../../platform/webhooks/webhook-record.ts';
import { createEndpointPools } from './endpoint-pools.ts';
import { type AttemptOutcome, outcomeOf, withoutDetail } from './outcome.ts';
import { type PostResult, post } from './post.ts';
import { signatureHeaders } from './signature.ts';

export interface Attempt extends AttemptOutcome {
  startTimeMs: number;
  endTimeMs: number;
  /**
   * 0 where no connection came about in time, as at a refused address, which must look no other; and for a failure of
   * which an opened network tells no more.
   */
  durationMs: number;
}

export type AttemptResult = { kind: 'made'; attempt: Attempt } | { kind: 'secret_unreadable' };

export interface Attempts {
  make(delivery: Delivery, owned: OwnedWebhook): Promise<AttemptResult>;
  close(): Promise<void>;
}

export interface AttemptOptions {
  secretBox: Pick<SecretBox, 'open'>;
  clock: Clock;
  allowed: BlockList;
  /** Whether the answers of endpoints in `allowed` are kept. */
  logsAllowedBodies: boolean;
  internet?: Internet;
  extraCertificates?: string;
  connect?: ConnectorOptions['connect'];
  /** Connecting with the name's look-up: 3 s. */
  connectTimeoutMs?: number;
  /** The whole attempt: 15 s. */
  attemptTimeoutMs?: number;
}

const refusedUrl: PostResult = { kind: 'failed', failure: 'unreached', code: 0 };

export function createAttempts(options: AttemptOptions): Attempts {
  const {
    clock,
    secretBox,
    allowed,
    attemptTimeoutMs = 15_000,
    connectTimeoutMs = 3_000,
  } = options;
  const internet = options.internet ?? createDnsInternet({});
  const pools = createEndpointPools({
    connectorFor: (onOpenedNetwork) =>
      createEndpointConnector({ ...options, internet, connectTimeoutMs, onOpenedNetwork }),
    answerTimeoutMs: attemptTimeoutMs,
  });

  // The same record until somebody changes it.
  const checkedUrls = new WeakMap<WebhookRecord, EndpointUrl>();
  const checkedUrl = (webhook: WebhookRecord): EndpointUrl => {
    const checked = checkedUrls.get(webhook) ?? checkEndpointUrl(webhook.endpointUrl, { allowed });
    checkedUrls.set(webhook, checked);
    return checked;
  };

  const send = async (
    delivery: Delivery,
    { organizationId, webhook }: OwnedWebhook,
    secret: string,
  ): Promise<{ result: PostResult; isInside: boolean }> => {
    const checked = checkedUrl(webhook);
    if (checked.kind === 'refused') return { result: refusedUrl, isInside: true };
    const body = Buffer.from(delivery.payload);
    const headers = headersOf(delivery, body, secret, clock.nowMs());
    const pool = pools.take(organizationId, checked.url.origin);
    try {
      const result = await post(pool, { url: checked.url, headers, body }, attemptTimeoutMs);
      return { result, isInside: pool.isInside() };
    } finally {
      pools.release(pool);
    }
  };

  return {
    async make(delivery, owned) {
      const { organizationId, webhook } = owned;
      const secret = secretBox.open(webhook.sealedSecret, webhookSecretPurpose(organizationId));
      if (secret === undefined) return { kind: 'secret_unreadable' };
      const startTimeMs = clock.nowMs();
      const startedMs = performance.now();
      const { result, isInside } = await send(delivery, owned, secret);
      const tookMs = Math.round(performance.now() - startedMs);
      const endTimeMs = clock.nowMs();
      const full = outcomeOf(result, endTimeMs);
      const isHidden = isInside && !options.logsAllowedBodies;
      const outcome = isHidden ? withoutDetail(full) : full;
      const isUnreached = result.kind === 'failed' && result.failure === 'unreached';
      const isUntold = isUnreached || (isHidden && outcome.error === 'connection_failed');
      const durationMs = isUntold ? 0 : tookMs;
      return { kind: 'made', attempt: { ...outcome, startTimeMs, endTimeMs, durationMs } };
    },
    close: () => pools.close(),
  };
}

function headersOf(
  { deliveryId, webhookId, eventType }: Delivery,
  body: Buffer,
  secret: string,
  nowMs: number,
): Record<string, string> {
  const timestampS = Math.floor(nowMs / 1_000);
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(body.length),
    'User-Agent': 'Millrace-Webhooks',
    // Bytes that must be unpacked could be a bomb.
    'Accept-Encoding': 'identity',
    'X-Service-Event': eventType,
    'X-Service-Delivery': deliveryId,
    'X-Service-Webhook-Id': webhookId,
    ...signatureHeaders({ secret, deliveryId, payload: body, timestampS }),
  };
}
