// The list of benches, in the order of an event's path. A bench that is not in it does not run.

import type { Bench } from './bench.ts';
import { eraseBench } from './questions/history/erase.ts';
import { exportBench } from './questions/history/export.ts';
import { importBench } from './questions/history/import.ts';
import { accountsBench } from './questions/ingest/accounts.ts';
import { compatBench } from './questions/ingest/compat.ts';
import { cookielessBench } from './questions/ingest/cookieless.ts';
import { gatewayBench } from './questions/ingest/gateway.ts';
import { identifyBench } from './questions/ingest/identify.ts';
import { refusedBench } from './questions/ingest/refused.ts';
import { singleBench } from './questions/ingest/single.ts';
import { validateBench } from './questions/ingest/validate.ts';
import { insightsBoardBench } from './questions/insights/board.ts';
import { insightsFairnessBench } from './questions/insights/fairness.ts';
import { insightsGrowthBench } from './questions/insights/growth.ts';
import {
  insightsBench,
  insightsMembersBench,
  insightsPersonsBench,
} from './questions/insights/speed.ts';
import { insightsStrangersBench } from './questions/insights/strangers.ts';
import { insightsUnderLoadBench } from './questions/insights/under-load.ts';
import { arrowBench } from './questions/pipeline/arrow.ts';
import { brokerBytesBench } from './questions/pipeline/broker-bytes.ts';
import { emitBench } from './questions/pipeline/emit.ts';
import { insertBench } from './questions/pipeline/insert.ts';
import { seenBench } from './questions/pipeline/seen.ts';
import { stagesBench } from './questions/pipeline/stages.ts';
import { webhookMatchingBench } from './questions/pipeline/webhook-matching.ts';
import { fewEventsBench } from './questions/steady/few-events.ts';
import { steadyBench } from './questions/steady/steady.ts';
import { webhooksBench } from './questions/webhooks/delivery.ts';
import { webhookRetriesBench } from './questions/webhooks/retries.ts';
import { endToEndBench } from './questions/whole/end-to-end.ts';
import { exposedBench } from './questions/whole/exposed.ts';
import { floodBench } from './questions/whole/flood.ts';
import { monthsBench } from './questions/whole/months.ts';
import { profileReadsBench } from './questions/whole/profile-reads.ts';
import { startBench, startStoredBench } from './questions/whole/start.ts';
import { watchBench } from './questions/whole/watch.ts';
import { webLiveBench } from './questions/whole/web-live.ts';
import { webOverviewBench } from './questions/whole/web-overview.ts';

export const benches: readonly Bench[] = [
  validateBench,
  refusedBench,
  cookielessBench,
  brokerBytesBench,
  emitBench,
  arrowBench,
  webhookMatchingBench,
  insertBench,
  seenBench,
  gatewayBench,
  singleBench,
  compatBench,
  endToEndBench,
  steadyBench,
  fewEventsBench,
  identifyBench,
  profileReadsBench,
  eraseBench,
  watchBench,
  webLiveBench,
  webOverviewBench,
  insightsBench,
  insightsMembersBench,
  insightsPersonsBench,
  insightsBoardBench,
  insightsGrowthBench,
  insightsUnderLoadBench,
  insightsFairnessBench,
  insightsStrangersBench,
  stagesBench,
  webhooksBench,
  webhookRetriesBench,
  accountsBench,
  exposedBench,
  floodBench,
  importBench,
  exportBench,
  monthsBench,
  startBench,
  startStoredBench,
];
