// The list of benches, in the order of an event's path.

import { arrowBench } from './arrow.ts';
import type { Bench } from './bench.ts';
import { cookielessBench } from './cookieless.ts';
import { endToEndBench } from './end-to-end.ts';
import { identifyBench } from './identify.ts';
import { insertBench } from './insert.ts';
import { profileReadsBench } from './profile-reads.ts';
import { singleBench } from './single.ts';
import { steadyBench } from './steady.ts';
import { validateBench } from './validate.ts';

export const benches: readonly Bench[] = [
  validateBench,
  cookielessBench,
  arrowBench,
  insertBench,
  singleBench,
  endToEndBench,
  steadyBench,
  identifyBench,
  profileReadsBench,
];
