// What the methods of the management interface work with; ./start.ts puts it together.

import type { Clock } from '../../platform/clock.ts';
import type { AttemptLog } from '../attempts/attempt-log.ts';
import type { PublishDelivery } from './deliveries/publish-delivery.ts';
import type { WebhookStore } from './records/webhook-store.ts';

/** What a text says of an endpoint. `rule` completes the sentence that begins with the field's name. */
export type CheckEndpointUrl = (text: string) => { kind: 'ok' } | { kind: 'refused'; rule: string };

export interface ManagementParts {
  store: WebhookStore;
  checkEndpointUrl: CheckEndpointUrl;
  /** Undefined for a project that does not exist. */
  organizationOf(projectId: string): string | undefined;
  attempts: AttemptLog;
  publishDelivery: PublishDelivery;
  /** The webhooks whose deliveries this process is recovering. */
  recovering: Set<string>;
  clock: Clock;
  /** The published document. */
  openApi: () => object;
}
