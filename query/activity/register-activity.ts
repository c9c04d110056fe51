// The methods of ActivityService that read stored events. Its streams and its pickers are routes.ts's.

import type { ConnectRouter } from '@connectrpc/connect';
import { ActivityService } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { type CallOptions, read } from '../calls/read-call.ts';
import { findStored } from '../history/find-stored.ts';
import type { SegmentOptions } from '../insights/segments/listed-persons.ts';
import { answerOptions } from '../json-codec.ts';
import { getActivityHeatmap } from './activity-heatmap.ts';
import { getActivityFeed, getEventExplorer } from './event-feed.ts';
import { listActivity } from './list-activity.ts';
import { getLiveFigures } from './live-figures.ts';
import { getProfileStats } from './profile-stats.ts';
import { listVisits } from './visits/list-visits.ts';

interface ActivityOptions extends CallOptions, SegmentOptions {
  /** Whether callers are looked up; undefined where this process takes no events. */
  looksUpPlaces?: boolean;
}

export function registerActivity(router: ConnectRouter, shared: ActivityOptions): void {
  const { list, getActivityFeed: feed, getEventExplorer: explorer } = ActivityService.method;
  const { getActivityHeatmap: heatmap, getProfileStats: stats } = ActivityService.method;
  const { findStored: find } = ActivityService.method;
  const { clock, findSegment, timezoneOf } = shared;
  const options = { clock, findSegment, timezoneOf };
  router.rpc(
    list,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse, standIns }, deadline) =>
        listActivity({ clickhouse, ...options }, projectId, request, deadline, standIns),
      ),
    answerOptions,
  );
  router.rpc(
    feed,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse, standIns }, deadline) =>
        getActivityFeed({ clickhouse, ...options }, projectId, request, deadline, standIns),
      ),
    answerOptions,
  );
  router.rpc(
    explorer,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse, standIns }, deadline) =>
        getEventExplorer({ clickhouse, ...options }, projectId, request, deadline, standIns),
      ),
    answerOptions,
  );
  router.rpc(
    heatmap,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        getActivityHeatmap({ clickhouse, clock }, projectId, request, deadline),
      ),
    answerOptions,
  );
  router.rpc(
    stats,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse, standIns }, deadline) =>
        getProfileStats({ clickhouse, clock }, projectId, request, deadline, standIns),
      ),
    answerOptions,
  );
  router.rpc(
    find,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        findStored(clickhouse, projectId, request, deadline),
      ),
    answerOptions,
  );
  registerVisitors(router, shared);
}

/** Of who visits, then and now. */
function registerVisitors(router: ConnectRouter, shared: ActivityOptions): void {
  const { listVisits: visits, getLiveFigures: figures } = ActivityService.method;
  const { clock, looksUpPlaces, findSegment, timezoneOf } = shared;
  const options = { clock, findSegment, timezoneOf };
  router.rpc(
    visits,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        listVisits({ clickhouse, ...options }, projectId, request, deadline),
      ),
    answerOptions,
  );
  router.rpc(
    figures,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        getLiveFigures({ clickhouse, clock, looksUpPlaces }, projectId, request, deadline),
      ),
    answerOptions,
  );
}
