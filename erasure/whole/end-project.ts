// The records of a deleted project: its own with its keys first, then everything that the broker keeps of it, then what
// other records say of it. May be done again at any time.

import { type OrganizationRecord, readOrganization } from '../../platform/access/organizations.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import type { ErasureRecord } from '../../platform/erasure/erasure-record.ts';
import {
  type OrganizationWebhooksRecord,
  readOrganizationWebhooks,
} from '../../platform/webhooks/webhook-record.ts';
import type { ErasureParts, StepEnd } from '../erasure-parts.ts';
import { endExports } from '../steps/end-exports.ts';
import { changeKey } from './change-key.ts';
import { openKeys, removeKeys, removeKeysOf } from './remove-keys.ts';

const endedExports = { reason: 'its project was deleted' };

/** `later`: files of its kept exports are still there. `onClose` is told where the project was open before. */
export async function endProject(
  parts: ErasureParts,
  { projectId, whole }: Pick<ErasureRecord, 'projectId' | 'whole'>,
  onClose: () => Promise<void>,
): Promise<StepEnd> {
  const { nats, requests } = parts;
  const organizationId = whole?.organizationId ?? '';
  const projects = await openKeys(nats, buckets.projects);
  if ((await projects.get(projectId))?.operation === 'PUT') {
    // First: whoever dies in between finds it open once more, or knows when it was.
    await onClose();
    await projects.delete(projectId);
  }
  await removeKeysOf(nats, projectId, [buckets.exports]);
  if (organizationId !== '') {
    await leaveOrganization(parts, organizationId, projectId);
    await leaveWebhooks(parts, organizationId, projectId);
  }
  for (const [key, record] of [...requests.records()]) {
    const isOfPerson = record.projectId === projectId && record.whole === undefined;
    if (isOfPerson) await requests.remove(key);
  }
  if ((await endExports(parts, [projectId], endedExports)) === 'later') return 'later';
  await removeKeys(nats, buckets.exports, projectId);
  return 'done';
}

/** Members and invited people who have a few projects lose this one. */
async function leaveOrganization(
  { nats }: ErasureParts,
  organizationId: string,
  projectId: string,
): Promise<void> {
  const bucket = await openBucket(nats, buckets.organizations, readOrganization);
  await changeKey<OrganizationRecord>(bucket, organizationId, (record) => {
    const without = <T extends { projectIds?: readonly string[] }>(one: T): T =>
      one.projectIds?.includes(projectId)
        ? { ...one, projectIds: one.projectIds.filter((id) => id !== projectId) }
        : one;
    const { members, invitations } = record;
    const isNamed = [...members, ...(invitations ?? [])].some((one) =>
      one.projectIds?.includes(projectId),
    );
    if (!isNamed) return undefined;
    return {
      ...{ ...record, members: members.map(without) },
      ...(invitations !== undefined && { invitations: invitations.map(without) }),
    };
  });
}

/** A webhook that was for this project alone goes with it. */
async function leaveWebhooks(
  { nats }: ErasureParts,
  organizationId: string,
  projectId: string,
): Promise<void> {
  const bucket = await openBucket(nats, buckets.webhooks, readOrganizationWebhooks);
  await changeKey<OrganizationWebhooksRecord>(bucket, organizationId, (record) => {
    const isNamed = record.webhooks.some(({ subscriptions }) =>
      subscriptions.some(({ subjectId }) => subjectId === projectId),
    );
    if (!isNamed) return undefined;
    const webhooks = record.webhooks.flatMap((webhook) => {
      const subscriptions = webhook.subscriptions.filter(
        ({ subjectId }) => subjectId !== projectId,
      );
      return subscriptions.length === 0 ? [] : [{ ...webhook, subscriptions }];
    });
    return { ...record, webhooks };
  });
}
