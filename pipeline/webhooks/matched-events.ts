// Finds the events of a batch that webhooks may be for, in a builder's thread: rows of a project whose organization has
// webhooks, of one of the six kinds and about a room, space or block that one of them subscribes to, or of a kind and
// with properties that one subscribes to in the project. Each is rendered once for each type of delivery. It is a
// function of the rows and the verdict; which webhooks an event is for is subscriptions.ts's.

import { fitsPayload } from '../../platform/webhooks/delivery.ts';
import { isSubjectName, renderEvent, subjectsOf } from '../../platform/webhooks/payload.ts';
import { roomEventTypes } from '../../platform/webhooks/webhook-record.ts';
import type { NumberedRows } from '../build/built-rows.ts';
import type { MatchedEvent, Verdict } from '../build/thread-messages.ts';
import { formatUuid } from '../build/uuid.ts';
import type { EventColumns } from '../columns/record-batch.ts';
import { type ProjectFilters, type PropertyOf, webhooksWanting } from './project-filter.ts';
import type { RequestSources } from './request-sources.ts';
import { isEmpty, mayMatch } from './subscription-filter.ts';
import type { ProjectEvent, RoomEvent, SubscribedProject } from './subscriptions.ts';

interface BuilderParts {
  sources: RequestSources;
  filters: ProjectFilters;
}

/**
 * The events in the order of rows, without the rows that the verdict drops; they must still be there. All parts
 * together are hardly longer than the batch's bodies, and twice as long where rooms' events go out as both types.
 */
export function findMatchedEvents(
  { columns, numbers }: NumberedRows,
  { dropped, subscribed = [] }: Verdict,
  { sources, filters }: BuilderParts,
): MatchedEvent[] {
  if (subscribed.length === 0) return [];
  const kinds = columns.texts('kind');
  const types = byIndex(roomEventTypes, (type) => kinds.indexOf(type));
  const projectIds = columns.texts('project_id');
  const projects = byIndex(subscribed, ({ projectId }) => projectIds.indexOf(projectId));
  const hasEvents = subscribed.some(({ events }) => events !== undefined);
  if ((types.size === 0 && !hasEvents) || projects.size === 0) return [];
  const kindOf = kinds.indices();
  const projectOf = projectIds.indices();
  const candidatesOf = rememberedCandidates(filters);
  const matched: MatchedEvent[] = [];
  for (let row = 0; row < numbers.length; row++) {
    const kindIndex = kindOf[row] ?? 0;
    const roomType = types.get(kindIndex);
    if (roomType === undefined && !hasEvents) continue;
    const project = projects.get(projectOf[row] ?? 0);
    if (project === undefined) continue;
    // Where nobody subscribes to rooms, a message is an event like all others.
    const eventType = isEmpty(project.filter) ? undefined : roomType;
    const candidates = candidatesOf(project, kindIndex, () => kinds.at(row));
    if (eventType === undefined && candidates.length === 0) continue;
    const number = numbers.array[row] ?? 0;
    if (((dropped?.[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0) continue;
    const source = sources.of(number);
    if (source === 'PUBLIC' && project.privateOnly) continue;
    const webhookIds = webhooksWanting(candidates, readOnce(columns, row));
    if (eventType === undefined && webhookIds.length === 0) continue;
    const { subjects } = subjectsOf(columns.propertiesAt(row, isSubjectName));
    const { projectId } = project;
    if (eventType !== undefined && mayMatch(project.filter, eventType, subjects)) {
      const event: RoomEvent = { projectId, eventType, source, subjects };
      matched.push(rendered(columns, row, project, event));
    }
    if (webhookIds.length === 0) continue;
    const of = { projectId, source, subjects, kind: kinds.at(row), webhookIds };
    matched.push(rendered(columns, row, project, { ...of, eventType: 'event' }));
  }
  return matched;
}

/** Whoever may want the events of a project and kind; a batch has few pairs of them. */
function rememberedCandidates(filters: ProjectFilters) {
  const known = new Map<SubscribedProject, ReturnType<typeof candidatesByKind>>();
  return (project: SubscribedProject, kindIndex: number, kind: () => string): Candidates => {
    if (project.events === undefined) return none;
    const ofProject = known.get(project) ?? candidatesByKind();
    known.set(project, ofProject);
    const ofKind = ofProject.get(kindIndex) ?? filters.read(project.events).candidates(kind());
    ofProject.set(kindIndex, ofKind);
    return ofKind;
  };
}

/** Hundreds of filters may ask for one property. */
function readOnce(columns: EventColumns, row: number): PropertyOf {
  const known = new Map<string, ReturnType<PropertyOf>>();
  return (name) => {
    if (known.has(name)) return known.get(name);
    const value = columns.propertyAt(row, name);
    known.set(name, value);
    return value;
  };
}

type Candidates = Parameters<typeof webhooksWanting>[0];
const none: Candidates = [];
const candidatesByKind = () => new Map<number, Candidates>();

function rendered(
  columns: EventColumns,
  row: number,
  { organizationId }: SubscribedProject,
  event: RoomEvent | ProjectEvent,
): MatchedEvent {
  const { eventId: idBytes, distinctId, occurTimeMs, receiveTimeMs } = columns.eventAt(row);
  const eventId = formatUuid(idBytes);
  const { projectId, source } = event;
  const part = renderEvent({
    ...(event.eventType === 'event'
      ? { eventType: event.eventType, kind: event.kind }
      : { eventType: event.eventType }),
    ...{ organizationId, projectId, occurTimeMs, source, eventId, distinctId },
    properties: columns.propertiesAt(row, isCustom),
  });
  return { ...event, eventId, receiveTimeMs, part: fitsPayload(part) ? part : '' };
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
