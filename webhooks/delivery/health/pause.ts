// Pauses a webhook: one compare-and-set on its organization's record, which only one of several processes wins.

import type { Clock } from '../../../platform/clock.ts';
import { changeRecord, type Records } from '../../../platform/records/change-record.ts';
import type { OwnedWebhook } from '../../../platform/webhooks/webhook-directory.ts';
import type {
  OrganizationWebhooksRecord,
  PauseReason,
  WebhookRecord,
} from '../../../platform/webhooks/webhook-record.ts';

/**
 * The paused record; undefined where the webhook is no longer as it was when its failures were counted: paused or
 * resumed by somebody else, led to another endpoint, inactive or deleted. Throws where the broker does not answer.
 */
export async function pauseWebhook(
  bucket: Records<OrganizationWebhooksRecord>,
  { organizationId, webhook }: OwnedWebhook,
  pauseReason: PauseReason,
  clock: Clock,
): Promise<WebhookRecord | undefined> {
  const changed = await changeRecord<OrganizationWebhooksRecord, WebhookRecord | undefined>(
    bucket,
    organizationId,
    (record) => {
      const current = record.webhooks.find(({ id }) => id === webhook.id);
      const isSame =
        current?.activeTime === webhook.activeTime && current.endpointUrl === webhook.endpointUrl;
      if (current?.status !== 'ACTIVE' || !isSame) return { leave: undefined };
      const updateTime = new Date(clock.nowMs()).toISOString();
      const paused: WebhookRecord = { ...current, status: 'PAUSED', pauseReason, updateTime };
      const webhooks = record.webhooks.map((each) => (each.id === webhook.id ? paused : each));
      return { write: { ...record, webhooks }, answer: paused };
    },
  );
  return changed.kind === 'done' ? changed.answer : undefined;
}
