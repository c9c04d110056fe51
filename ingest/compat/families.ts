// The families whose requests are taken. Families that share a path stand in the order in which they are asked whether
// a request is theirs.

import type { CompatFamily } from '../../platform/compat/compat-families.ts';
import type { Endpoint, Family } from './endpoint.ts';
import { amplitude } from './families/amplitude.ts';
import { jitsu } from './families/jitsu.ts';
import { mixpanel } from './families/mixpanel.ts';
import { posthog } from './families/posthog.ts';
import { rudderstack } from './families/rudderstack.ts';
import { segment } from './families/segment.ts';
import { ga4 } from './families/sites/ga4.ts';
import { matomo } from './families/sites/matomo.ts';
import { openpanel } from './families/sites/openpanel.ts';
import { plausible } from './families/sites/plausible.ts';
import { rybbit } from './families/sites/rybbit.ts';
import { umami } from './families/sites/umami.ts';
import { snowplow } from './families/snowplow.ts';

/** A name without a line here does not compile. */
const families: Readonly<Record<CompatFamily, Family>> = {
  posthog,
  rudderstack,
  segment,
  openpanel,
  rybbit,
  mixpanel,
  amplitude,
  plausible,
  umami,
  jitsu,
  snowplow,
  matomo,
  ga4,
};

/** All endpoints of a path, which may end in a slash. */
export function endpointsOf(path: string): Endpoint[] {
  const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return Object.values(families).flatMap(({ paths, match }) => {
    const endpoint = paths.get(bare) ?? match?.(bare);
    return endpoint === undefined ? [] : [endpoint];
  });
}
