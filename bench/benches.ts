// The list of benches, in the order of an event's path.

import { accountsBench } from './accounts.ts';
import { arrowBench } from './arrow.ts';
import type { Bench } from './bench.ts';
import { brokerBytesBench } from './broker-bytes.ts';
import { cookielessBench } from './cookieless.ts';
import { emitBench } from './emit.ts';
import { endToEndBench } from './end-to-end.ts';
import { gatewayBench } from './gateway.ts';
import { identifyBench } from './identify.ts';
import { insertBench } from './insert.ts';
import { profileReadsBench } from './profile-reads.ts';
import { seenBench } from './seen.ts';
import { singleBench } from './single.ts';
import { stagesBench } from './stages.ts';
import { startBench } from './start.ts';
import { steadyBench } from './steady.ts';
import { tricksBench } from './tricks.ts';
import { validateBench } from './validate.ts';

export const benches: readonly Bench[] = [
  validateBench,
  cookielessBench,
  brokerBytesBench,
  emitBench,
  arrowBench,
  insertBench,
  seenBench,
  gatewayBench,
  singleBench,
  endToEndBench,
  steadyBench,
  identifyBench,
  profileReadsBench,
  stagesBench,
  tricksBench,
  accountsBench,
  startBench,
];
