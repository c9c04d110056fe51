// The list of benches, in the order of an event's path.

import { accountsBench } from './accounts.ts';
import { arrowBench } from './arrow.ts';
import type { Bench } from './bench.ts';
import { cookielessBench } from './cookieless.ts';
import { endToEndBench } from './end-to-end.ts';
import { gatewayBench } from './gateway.ts';
import { identifyBench } from './identify.ts';
import { insertBench } from './insert.ts';
import { profileReadsBench } from './profile-reads.ts';
import { singleBench } from './single.ts';
import { startBench } from './start.ts';
import { validateBench } from './validate.ts';

export const benches: readonly Bench[] = [
  validateBench,
  cookielessBench,
  arrowBench,
  insertBench,
  gatewayBench,
  singleBench,
  endToEndBench,
  identifyBench,
  profileReadsBench,
  accountsBench,
  startBench,
];
