// The families of exports that are read, by the names that the command takes.

import { amplitude } from './families/amplitude.ts';
import { ga4 } from './families/ga4.ts';
import type { HistoryFamily } from './families/history-family.ts';
import { createMatomo } from './families/matomo.ts';
import { createMillrace } from './families/millrace.ts';
import { createMixpanel } from './families/mixpanel.ts';
import { posthog } from './families/posthog.ts';
import { rudderstack, segment } from './families/segment.ts';
import { snowplow } from './families/snowplow.ts';
import { createUmami } from './families/umami.ts';

export const accessLog = 'access-log';

/** Families of exports; `zone` is that of a project whose times are not in UTC. */
const families: ReadonlyMap<string, (zone: string | undefined) => HistoryFamily> = new Map([
  ['millrace', () => createMillrace()],
  ['posthog', () => posthog],
  ['mixpanel', createMixpanel],
  ['amplitude', () => amplitude],
  ['segment', () => segment],
  ['rudderstack', () => rudderstack],
  ['ga4', () => ga4],
  ['snowplow', () => snowplow],
  ['matomo', () => createMatomo()],
  ['umami', () => createUmami()],
]);

export const familyNames: readonly string[] = [...families.keys(), accessLog];

/** What has no events, and why. */
export const refusedFamilies: ReadonlyMap<string, string> = new Map([
  [
    'plausible',
    'Plausible exports sums of each day, and no events can be made of sums: import the access log of the same time ' +
      'instead (npm run import -- access-log FILE)',
  ],
]);

/** Undefined for a name of none, and for `access-log`, which has options of its own. */
export function familyOf(name: string, zone: string | undefined): HistoryFamily | undefined {
  return families.get(name)?.(zone);
}
