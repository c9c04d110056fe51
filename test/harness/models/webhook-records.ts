// Records of webhooks for tests of those who read them: an active webhook with one subscription, changed by `fields`.

import type { SubscriptionsOptions } from '../../../pipeline/webhooks/subscriptions.ts';
import type { WebhookRecord } from '../../../platform/webhooks/webhook-record.ts';

const time = '2026-11-20T00:00:00Z';

export function webhookRecord(fields: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    id: 'w1',
    name: 'a webhook',
    description: '',
    endpointUrl: 'https://example.com/hook',
    status: 'ACTIVE',
    subscriptions: [{ subjectType: 'ROOM', subjectId: 'r1', eventType: 'message_sent' }],
    sealedSecret: 'sealed',
    createTime: time,
    updateTime: time,
    activeTime: time,
    ...fields,
  };
}

/** For a pipeline whose organizations have none. */
export const noWebhooks: SubscriptionsOptions = {
  webhooks: { webhooksOf: () => [] },
  organizationOf: () => undefined,
  privateOnly: false,
};
