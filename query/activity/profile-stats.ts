// ActivityService.GetProfileStats: totals of a user's events, their days, and the user's traits.

import { create } from '@bufbuild/protobuf';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type GetProfileStatsRequest,
  type GetProfileStatsResponse,
  GetProfileStatsResponseSchema,
  type ProfileStats,
  ProfileStatsSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { ProfileActivitySummary } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import type { Deadline } from '../deadline.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { findProfileOf } from '../profiles/get-profile.ts';
import { traitsMessage } from '../profiles/stored-profile.ts';
import { checkIsGiven, readDays, usualRange } from './activity-heatmap.ts';

interface StatsOptions {
  clickhouse: RowReader;
  clock: Clock;
}

/** Throws invalid_argument, not_found for an id without a profile, and the client's errors. */
export async function getProfileStats(
  { clickhouse, clock }: StatsOptions,
  projectId: string,
  { distinctId }: GetProfileStatsRequest,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<GetProfileStatsResponse> {
  checkIsGiven(distinctId);
  const found = await findProfileOf({ clickhouse }, projectId, distinctId, deadline);
  const range = usualRange(clock.nowMs());
  return create(GetProfileStatsResponseSchema, {
    stats: statsOf(found.activity?.summary),
    heatmap: await readDays(clickhouse, projectId, distinctId, range, deadline),
    properties: traitsMessage(found.stored, standIns),
  });
}

function statsOf(summary: ProfileActivitySummary | undefined): ProfileStats {
  if (summary === undefined) return create(ProfileStatsSchema, { totalEvents: 0n });
  const { firstSeen, lastSeen, browser, browserVersion, os, osVersion, device, country } = summary;
  return create(ProfileStatsSchema, {
    ...(firstSeen !== undefined && { firstSeen }),
    ...(lastSeen !== undefined && { lastSeen }),
    ...{ totalEvents: summary.totalEvents ?? 0n, browser, browserVersion, os, osVersion },
    ...{ device, country, city: summary.city },
  });
}
