// What the methods work with for a member who has a few projects of the organization: webhooks and deliveries of the
// others are not there. Methods know nothing of it, so that a new one keeps to it too.

import { mayUse } from '../../platform/access/organizations.ts';
import type { WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import type { Caller } from './http/operation.ts';
import { noSuchWebhook } from './http/refusals.ts';
import type { ManagementParts } from './management-parts.ts';

/** `caller` is undefined where everybody may call. */
export function partsOfCaller(
  parts: ManagementParts,
  caller: Pick<Caller, 'projectIds'> | undefined,
): ManagementParts {
  const projectIds = caller?.projectIds;
  if (projectIds === undefined) return parts;
  const { store, attempts } = parts;
  // Subscriptions to rooms, spaces and blocks hear of every project.
  const isTheirs = ({ subscriptions }: WebhookRecord): boolean =>
    subscriptions.every(
      ({ subjectType, subjectId }) =>
        subjectType === 'PROJECT' && mayUse({ projectIds }, subjectId),
    );
  return {
    ...parts,
    organizationOf: (projectId) =>
      mayUse({ projectIds }, projectId) ? parts.organizationOf(projectId) : undefined,
    // Only admins change webhooks and send deliveries, and an admin has all projects.
    store: {
      ...store,
      list: async (organizationId) => (await store.list(organizationId)).filter(isTheirs),
      async find(organizationId, webhookId) {
        const webhook = await store.find(organizationId, webhookId);
        if (!isTheirs(webhook)) throw noSuchWebhook();
        return webhook;
      },
    },
    attempts: {
      ...attempts,
      // A webhook may have been subscribed to another project before.
      readAttempts: (query, gone) => attempts.readAttempts({ ...query, projectIds }, gone),
    },
  };
}
