// The bounds on items beside their number in a project: the bytes of one, how many of a kind an organization's projects
// have together, and the bytes of all kinds. Calls at the same moment may all pass those of an organization.

import { type DescMessage, type MessageShape, toJsonString } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import {
  type ItemKind,
  itemKinds,
  itemsKey,
  type ProjectItemsRecord,
} from '../../platform/project-items/project-items.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { invalidArgument } from '../request-fields.ts';

/**
 * Of an organization's items of all kinds, which every process keeps in memory. With the bound on a customer's
 * organizations, nobody's take more than a fifth of their bucket.
 */
export const maxItemBytes = 1_048_576;

/** The most that one item of a kind takes, as the text of its message in JSON. */
interface ItemSize {
  /** With its article, as in "an alert". */
  noun: string;
  maxBytes: number;
  /** The field that makes an item large. */
  field: string;
}

/** Throws invalid_argument. */
export function refuseLargeItem<D extends DescMessage>(
  schema: D,
  item: MessageShape<D>,
  { noun, maxBytes, field }: ItemSize,
): void {
  if (Buffer.byteLength(toJsonString(schema, item)) <= maxBytes) return;
  throw invalidArgument(field, `${noun} takes at most ${maxBytes} bytes`);
}

/** Throws failed_precondition where the organization's projects have `max` items of the kind. */
export function refuseMoreItems(
  items: { count(projectId: string): number },
  byOrganization: ProjectsByOrganization,
  organizationId: string,
  { kind, max }: { kind: ItemKind; max: number },
): void {
  const ids = byOrganization.idsOf(organizationId);
  if (ids.reduce((sum, projectId) => sum + items.count(projectId), 0) < max) return;
  const message = `an organization has at most ${max} ${kind}: delete some`;
  throw new ConnectError(message, Code.FailedPrecondition);
}

interface QuotaDeps {
  items: Pick<WatchedBucket<ProjectItemsRecord>, 'get'>;
  byOrganization: ProjectsByOrganization;
}

/** Throws failed_precondition where the lists hold all that they may. */
export function refuseMoreItemBytes(
  { items, byOrganization }: QuotaDeps,
  organizationId: string,
): void {
  let bytes = 0;
  for (const projectId of byOrganization.idsOf(organizationId)) {
    for (const kind of itemKinds) bytes += bytesOf(items.get(itemsKey(kind, projectId))?.record);
  }
  if (bytes < maxItemBytes) return;
  const rule = `the ${itemKinds.join(', ')} of an organization take at most ${maxItemBytes} bytes`;
  throw new ConnectError(`${rule}: delete some`, Code.FailedPrecondition);
}

/** Of each record once: a changed record is another object. */
const known = new WeakMap<ProjectItemsRecord, number>();

function bytesOf(record: ProjectItemsRecord | undefined): number {
  if (record === undefined) return 0;
  const bytes = known.get(record) ?? Buffer.byteLength(JSON.stringify(record));
  known.set(record, bytes);
  return bytes;
}
