// The subscriptions of a request as a record holds them, with the rules that their schema cannot say: which filter goes
// with which type, the filters of properties, and whose project it is.

import { checkFilters, looksForPart } from '../../../platform/filters/filter-bounds.ts';
import { propertyKey } from '../../../platform/filters/filter-rules.ts';
import { valueTest } from '../../../platform/filters/value-test.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import {
  type PropertyFilterRecord,
  propertyFilterOf,
} from '../../../platform/webhooks/property-filter-record.ts';
import {
  type HappeningSubscription,
  isProjectEventType,
  type ProjectEventType,
  type ProjectSubscription,
  type RoomSubscription,
  type Subscription,
} from '../../../platform/webhooks/webhook-record.ts';
import { noSuchProject } from '../http/refusals.ts';
import type { ManagementParts } from '../management-parts.ts';
import { eventTypeOf, subjectTypeName, subjectTypeOf } from '../schema/event-names.ts';
import { maxFiltersOfWebhook, type SubscriptionJson } from '../schema/webhook-schema.ts';

const field = 'content.subscriptions';

/** Throws invalid_argument that names the field, and not_found for a project that is not the organization's. */
export function checkedSubscriptions(
  { organizationOf }: Pick<ManagementParts, 'organizationOf'>,
  organizationId: string,
  subscriptions: readonly SubscriptionJson[],
): Subscription[] {
  const filters = subscriptions.reduce(
    (sum, { filter }) => sum + (filter?.properties?.length ?? 0),
    0,
  );
  if (filters > maxFiltersOfWebhook) {
    throw invalidArgument(field, `take at most ${maxFiltersOfWebhook} filter.properties together`);
  }
  return subscriptions.map((json, index) => {
    const path = `${field}[${index}]`;
    const subscription = subscriptionOf(json, path);
    const { subjectType, subjectId } = subscription;
    if (subjectType === 'PROJECT' && organizationOf(subjectId) !== organizationId) {
      throw noSuchProject(`${path}.subject_id`);
    }
    return subscription;
  });
}

function subscriptionOf(json: SubscriptionJson, path: string): Subscription {
  const eventType = eventTypeOf(json.subscription_type);
  const subjectType = subjectTypeOf(json.subject_type);
  if (eventType === 'event' || isProjectEventType(eventType)) {
    if (subjectType === 'PROJECT') {
      return eventType === 'event'
        ? projectSubscription(json, path)
        : happeningSubscription(json, eventType, path);
    }
    const rule = `must be ${subjectTypeName('PROJECT')} with ${json.subscription_type}`;
    throw invalidArgument(`${path}.subject_type`, rule);
  }
  if (subjectType === 'PROJECT') {
    const rule = `must be of a room, a space or a block with ${json.subscription_type}`;
    throw invalidArgument(`${path}.subject_type`, rule);
  }
  const { room_type: roomType, ...others } = json.filter ?? {};
  refuseOthers(others, `${path}.filter`, 'room_type');
  const subscription: RoomSubscription = { subjectType, subjectId: json.subject_id, eventType };
  return roomType === undefined ? subscription : { ...subscription, roomType };
}

function projectSubscription(json: SubscriptionJson, path: string): ProjectSubscription {
  const { kinds, properties, ...others } = json.filter ?? {};
  refuseOthers(others, `${path}.filter`, 'kinds, properties');
  return {
    subjectType: 'PROJECT',
    subjectId: json.subject_id,
    eventType: 'event',
    ...(kinds !== undefined && { kinds: [...new Set(kinds)] }),
    ...(properties !== undefined && {
      properties: checkedProperties(properties, `${path}.filter.properties`),
    }),
  };
}

function happeningSubscription(
  json: SubscriptionJson,
  eventType: ProjectEventType,
  path: string,
): HappeningSubscription {
  refuseOthers(json.filter ?? {}, `${path}.filter`, 'none');
  return { subjectType: 'PROJECT', subjectId: json.subject_id, eventType };
}

/** The schema lets the filter keys of all types pass. */
function refuseOthers(others: object, path: string, known: string): void {
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw invalidArgument(`${path}.${other}`, `is unknown: known are ${known}`);
}

function checkedProperties(
  properties: readonly PropertyFilterRecord[],
  path: string,
): readonly PropertyFilterRecord[] {
  const named = properties.map((record, index) => {
    return { filter: propertyFilterOf(record), path: `${path}[${index}]` };
  });
  checkFilters(named, path, [], ({ operator }) => looksForPart(operator));
  for (const { filter, path: at } of named) {
    propertyKey(filter, at);
    valueTest(filter, at);
  }
  return properties;
}
