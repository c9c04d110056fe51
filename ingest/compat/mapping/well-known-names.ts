// Names of properties that several vendors share, and the names that Millrace has for them. A property without a row
// keeps its own name; the first that is put stays.

import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { PropertyText } from './property-text.ts';
import { textOf } from './sent-values.ts';

/** Properties in the style of PostHog and Mixpanel to automatic ones, whose columns hold texts. */
const screenName = 'screen_name';
const dollarNames: ReadonlyMap<string, string> = new Map([
  ['$current_url', '$url'],
  ['$pathname', '$pathname'],
  ['$referrer', '$referrer'],
  ['$os', '$os'],
  ['$os_version', '$osVersion'],
  ['$browser', '$browser'],
  ['$browser_version', '$browserVersion'],
  ['$device', '$device'],
  ['$screen_name', screenName],
  ['$device_type', '$deviceType'],
  ['$timezone', '$timezone'],
  ['utm_source', '$utmSource'],
  ['utm_medium', '$utmMedium'],
  ['utm_campaign', '$utmCampaign'],
  ['utm_term', '$utmTerm'],
  ['utm_content', '$utmContent'],
]);

/** Where a visitor came from nowhere, the SDKs say so. */
const noReferrer: ReadonlySet<unknown> = new Set(['$direct', '', null]);

/** Their own names by those that are sent; empty for what is told in another way. */
export type DollarNames = ReadonlyMap<string, string>;

const isLeft = '';

export function dollarNamesWithout(left: readonly string[]): DollarNames {
  return new Map([...dollarNames, ...left.map((name) => [name, isLeft] as const)]);
}

/** `names`: of the family, made once by dollarNamesWithout. */
export function putDollarProperties(
  properties: PropertyText,
  sent: JsonObject,
  names: DollarNames,
): void {
  for (const name in sent) {
    const value = sent[name];
    const own = names.get(name);
    if (own === undefined) properties.put(name, value);
    else if (own === isLeft) continue;
    else if (own === screenName) properties.put(own, value);
    else if (own !== '$referrer' || !noReferrer.has(value)) properties.putText(own, value);
  }
}

/** A page as Segment, RudderStack and Jitsu describe it in a context. */
export function putPage(properties: PropertyText, page: unknown): void {
  if (!isObject(page)) return;
  properties.putText('$url', page['url']);
  properties.putText('$pathname', page['path']);
  if (!noReferrer.has(page['referrer'])) properties.putText('$referrer', page['referrer']);
  properties.put('title', textOf(page['title']));
}

/** The campaign of a context: `{source, medium, name, term, content}`. */
export function putCampaign(properties: PropertyText, campaign: unknown): void {
  if (!isObject(campaign)) return;
  for (const [name, own] of campaignNames) properties.putText(own, campaign[name]);
}

const campaignNames = [
  ['source', '$utmSource'],
  ['medium', '$utmMedium'],
  ['name', '$utmCampaign'],
  ['campaign', '$utmCampaign'],
  ['term', '$utmTerm'],
  ['content', '$utmContent'],
] as const;

/** What a vendor calls revenue is an amount here too; its currency keeps its name. */
export function putRevenue(properties: PropertyText, sent: JsonObject): void {
  const revenue = sent['amount'] ?? sent['revenue'] ?? sent['$revenue'] ?? sent['$amount'];
  const amount = typeof revenue === 'string' && revenue !== '' ? Number(revenue) : revenue;
  if (typeof amount !== 'number' || !Number.isFinite(amount) || sent['amount'] === revenue) return;
  properties.put('amount', amount);
}
