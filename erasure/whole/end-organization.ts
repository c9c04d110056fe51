// The records of a deleted organization: each of its projects gets a request of its own, then everything that is named
// by the organization leaves the broker: itself with members, invitations, keys and mail server, webhooks and notices.

import { readProject } from '../../platform/access/projects.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { askForDeletion } from '../../platform/erasure/ask-for-deletion.ts';
import type { ErasureParts } from '../erasure-parts.ts';
import { recordsOf, removeKeysOf } from './remove-keys.ts';

export async function endOrganization(parts: ErasureParts, organizationId: string): Promise<void> {
  const { nats, requests, clock } = parts;
  const projects = await openBucket(nats, buckets.projects, readProject);
  for (const [key, project] of await recordsOf(parts, projects)) {
    if (project.organizationId !== organizationId) continue;
    // Not by its name: nobody is left who could ask.
    const whole = { kind: 'project', organizationId, displayName: '' } as const;
    await askForDeletion(requests, { ...whole, id: key }, clock);
    await projects.kv.delete(key);
  }
  await removeKeysOf(nats, organizationId);
}
