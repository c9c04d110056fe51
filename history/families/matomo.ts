// Matomo's Live.getLastVisitsDetails: a list of visits with their actions. An action's time is off UTC by the site's
// zone, and the visit's first action, whose moment is in UTC, tells by how much.

import { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { idText, textOf } from '../../ingest/compat/mapping/sent-values.ts';
import { minuteMs } from '../../platform/clock.ts';
import { fieldOf, isObject, type JsonObject } from '../../platform/json.ts';
import { countryCode } from '../describe/country-names.ts';
import { putDescribed } from '../describe/described.ts';
import { quarterMs } from '../describe/zone-time.ts';
import { type HistoryFamily, type RowSink, reasons, zoneDoubtMs } from './history-family.ts';

/** Visits that the API answers unless it is asked for more. */
const usualVisits = 10;

export function createMatomo(): HistoryFamily {
  let [visits, truncated] = [0, 0];
  return {
    ...{ name: 'matomo', form: 'json list', timeDoubtMs: zoneDoubtMs },
    decode(value, sink) {
      visits++;
      if (Number(fieldOf(value, 'truncatedActionsCount') ?? 0) > 0) truncated++;
      return decode(value, sink);
    },
    notes: () => [
      ...(visits === usualVisits
        ? ['10 visits, as many as the API answers unless it is asked with filter_limit=-1']
        : []),
      ...(truncated > 0 ? [`${truncated} visits have more actions than the export lists`] : []),
    ],
  };
}

function decode(value: unknown, sink: RowSink): string | undefined {
  const actions = fieldOf(value, 'actionDetails');
  if (!isObject(value) || !Array.isArray(actions)) return reasons.row_object;
  const distinctId = idText(value['userId']) ?? idText(value['visitorId']);
  if (distinctId === undefined) return reasons.no_person;
  const clock = clockOf(value, actions);
  if (clock === undefined) return reasons.event_time;
  let kept = 0;
  for (const action of actions) {
    const timeMs = clock(fieldOf(action, 'timestamp'));
    const draft = isObject(action) ? draftOf(action, value) : undefined;
    if (draft === undefined || timeMs === undefined) continue;
    draft.timeMs = timeMs;
    draft.distinctId = distinctId;
    draft.session = `${idText(value['idSite']) ?? ''}/${idText(value['idVisit']) ?? ''}`;
    sink.event(draft);
    kept++;
  }
  const [user, visitor] = [idText(value['userId']), idText(value['visitorId'])];
  const startMs = msOf(value['firstActionTimestamp']) ?? 0;
  if (user !== undefined && visitor !== undefined) {
    sink.call({ externalId: user, anonymousId: visitor }, startMs);
  }
  return kept < actions.length ? reasons.no_action : undefined;
}

/**
 * Tells the moment of an action's seconds, which must be asked in order; undefined where nothing tells how far they are
 * off UTC. The site's clock may change within a visit, whose last action then is off by something else than the first:
 * from the first action on that would be before its forerunner, or behind the last one. A visit may also go on after
 * its last action, and actions may come out of order: only another clock that fits them better is taken.
 */
function clockOf(
  visit: JsonObject,
  actions: readonly unknown[],
): ((seconds: unknown) => number | undefined) | undefined {
  const firstMs = msOf(visit['firstActionTimestamp']);
  const lastMs = msOf(visit['lastActionTimestamp']) ?? Number.POSITIVE_INFINITY;
  const startShiftMs = shiftOf(actions[0], firstMs);
  if (firstMs === undefined || startShiftMs === undefined) return undefined;
  const endShiftMs = shiftOf(actions.at(-1), lastMs) ?? startShiftMs;
  let shiftMs = startShiftMs;
  let otherMs = clockChangesMs.has(Math.abs(endShiftMs - startShiftMs)) ? endShiftMs : startShiftMs;
  let beforeMs = firstMs;
  return (seconds) => {
    const wallMs = msOf(seconds);
    if (wallMs === undefined) return undefined;
    const isInOrder = (ms: number): boolean => ms >= beforeMs - minuteMs && ms <= lastMs + minuteMs;
    if (!isInOrder(wallMs - shiftMs) && isInOrder(wallMs - otherMs)) {
      [shiftMs, otherMs] = [otherMs, shiftMs];
    }
    beforeMs = Math.max(beforeMs, wallMs - shiftMs);
    return wallMs - shiftMs;
  };
}

/** Of summer's clocks: an hour, and half of one on Lord Howe Island. */
const clockChangesMs: ReadonlySet<number> = new Set([30 * minuteMs, 60 * minuteMs]);

/** To a quarter of an hour, the grain of zones. */
function shiftOf(action: unknown, utcMs: number | undefined): number | undefined {
  const wallMs = msOf(fieldOf(action, 'timestamp'));
  if (wallMs === undefined || utcMs === undefined || !Number.isFinite(utcMs)) return undefined;
  return quarterMs * Math.round((wallMs - utcMs) / quarterMs);
}

function msOf(seconds: unknown): number | undefined {
  const number = numberOf(seconds);
  return number === undefined ? undefined : 1_000 * number;
}

/** By the type of an action; a type without a row is no action of a user. */
const names: ReadonlyMap<unknown, string> = new Map([
  ['action', 'pageview'],
  ['search', 'search'],
  ['outlink', 'outbound_click'],
  ['download', 'file_downloaded'],
  ['event', 'event'],
  ['goal', 'goal'],
  ['ecommerceOrder', 'purchase'],
  ['content', 'content'],
  ['media', 'media'],
]);

function draftOf(action: JsonObject, visit: JsonObject): EventDraft | undefined {
  const { type } = action;
  const usual = names.get(type);
  if (usual === undefined) return undefined;
  const draft = new EventDraft(type === 'event' ? (textOf(action['eventAction']) ?? usual) : usual);
  draft.id = keyOf(action, visit);
  const { properties } = draft;
  properties.putText('$url', action['url']);
  const isFirst = idText(action['pageviewPosition']) === '1';
  const referrer = isFirst ? textOf(visit['referrerUrl']) : undefined;
  properties.putText('$referrer', referrer);
  for (const [field, name] of texts) properties.put(name, textOf(action[field]));
  for (const [field, name] of numbers) properties.put(name, numberOf(action[field]));
  if (type === 'ecommerceOrder') properties.put('currency', textOf(visit['siteCurrency']));
  properties.put('items', action['itemDetails']);
  for (const source of [visit, action]) putDimensions(draft, source);
  putVisit(draft, visit);
  putDescribed(draft, { url: action['url'], referrer });
  return draft;
}

/** Of a site one number names a page view or event, a goal its page and number, an order itself. */
function keyOf(action: JsonObject, visit: JsonObject): string {
  const site = idText(visit['idSite']);
  const page = idText(action['pageId']);
  if (action['type'] === 'goal') {
    const goal = [idText(visit['idVisit']), idText(action['goalPageId']), idText(action['goalId'])];
    return JSON.stringify([site, 'goal', ...goal]);
  }
  if (action['type'] === 'ecommerceOrder') {
    return JSON.stringify([site, 'order', idText(action['orderId'])]);
  }
  const rest = [idText(visit['idVisit']), action['type'], idText(action['timestamp'])];
  return JSON.stringify(page === undefined ? [site, ...rest] : [site, page]);
}

const texts = [
  ['pageTitle', 'title'],
  ['eventCategory', 'category'],
  ['eventName', 'name'],
  ['siteSearchKeyword', 'query'],
  ['siteSearchCategory', 'search_category'],
  ['goalName', 'goal_name'],
  ['goalId', 'goal_id'],
  ['orderId', 'order_id'],
] as const;
const numbers = [
  ['eventValue', 'value'],
  ['revenue', 'amount'],
  ['timeSpent', 'seconds_spent'],
  ['siteSearchCount', 'search_count'],
] as const;

/** A number, or its text. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function putDimensions({ properties }: EventDraft, source: JsonObject): void {
  for (const key in source) if (/^dimension\d{1,4}$/.test(key)) properties.put(key, source[key]);
  const variables = source['customVariables'];
  if (isObject(variables) && Object.keys(variables).length > 0) {
    properties.put('custom_variables', variables);
  }
}

const known = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text === 'Unknown' || text === 'unknown' ? undefined : text;
};

function putVisit({ properties }: EventDraft, visit: JsonObject): void {
  properties.putText('$browser', known(visit['browserName']));
  properties.putText('$browserVersion', known(visit['browserVersion']));
  properties.putText('$os', known(visit['operatingSystemName'] ?? visit['operatingSystem']));
  properties.putText('$deviceType', known(visit['deviceType'])?.toLowerCase());
  properties.put('$country', countryCode(visit['countryCode']));
  properties.putText('$region', known(visit['region']));
  properties.putText('$city', known(visit['city']));
}
