// Finds the events of a batch that webhooks may be for, in a builder's thread: rows of one of the six kinds, of a
// project whose organization has webhooks, about a room, space or block that one of them subscribes to. Each is
// rendered once. It is a function of the rows and the verdict; which webhooks an event is for is subscriptions.ts's.

import { fitsPayload } from '../../platform/webhooks/delivery.ts';
import { isSubjectName, renderEvent, subjectsOf } from '../../platform/webhooks/payload.ts';
import { roomEventTypes } from '../../platform/webhooks/webhook-record.ts';
import type { NumberedRows } from '../build/built-rows.ts';
import type { Verdict } from '../build/thread-messages.ts';
import { formatUuid } from '../build/uuid.ts';
import type { RequestSources } from './request-sources.ts';
import { mayMatch } from './subscription-filter.ts';
import type { RoomEvent } from './subscriptions.ts';

export interface MatchedEvent extends RoomEvent {
  eventId: string;
  /** When its request was received; ms since the epoch. */
  receiveTimeMs: number;
  /** The payload's part that all webhooks have in common; empty where it is longer than a payload may be. */
  part: string;
}

/**
 * The events in the order of rows, without the rows that the verdict drops; they must still be there. All parts
 * together are hardly longer than the batch's bodies.
 */
export function findMatchedEvents(
  { columns, numbers }: NumberedRows,
  { dropped, subscribed = [] }: Verdict,
  sources: RequestSources,
): MatchedEvent[] {
  if (subscribed.length === 0) return [];
  const kinds = columns.texts('kind');
  const types = byIndex(roomEventTypes, (type) => kinds.indexOf(type));
  const projectIds = columns.texts('project_id');
  const projects = byIndex(subscribed, ({ projectId }) => projectIds.indexOf(projectId));
  if (types.size === 0 || projects.size === 0) return [];
  const kindOf = kinds.indices();
  const projectOf = projectIds.indices();
  const matched: MatchedEvent[] = [];
  for (let row = 0; row < numbers.length; row++) {
    const eventType = types.get(kindOf[row] ?? 0);
    const project = eventType === undefined ? undefined : projects.get(projectOf[row] ?? 0);
    if (eventType === undefined || project === undefined) continue;
    const number = numbers.array[row] ?? 0;
    if (((dropped?.[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0) continue;
    const source = sources.of(number);
    if (source === 'PUBLIC' && project.privateOnly) continue;
    const { subjects } = subjectsOf(columns.propertiesAt(row, isSubjectName));
    if (!mayMatch(project.filter, eventType, subjects)) continue;
    const { projectId, organizationId } = project;
    const { eventId: idBytes, distinctId, occurTimeMs, receiveTimeMs } = columns.eventAt(row);
    const eventId = formatUuid(idBytes);
    const part = renderEvent({
      organizationId,
      projectId,
      eventType,
      occurTimeMs,
      source,
      eventId,
      distinctId,
      properties: columns.propertiesAt(row, isCustom),
    });
    matched.push({
      projectId,
      eventType,
      source,
      subjects,
      eventId,
      receiveTimeMs,
      part: fitsPayload(part) ? part : '',
    });
  }
  return matched;
}

const isCustom = (name: string): boolean => !name.startsWith('$');

/** The items by their index in a column; those that no row has are left out. */
function byIndex<Item>(
  items: readonly Item[],
  indexOf: (item: Item) => number | undefined,
): Map<number, Item> {
  const found = new Map<number, Item>();
  for (const item of items) {
    const index = indexOf(item);
    if (index !== undefined) found.set(index, item);
  }
  return found;
}
