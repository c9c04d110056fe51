// The dashboard that every project has from its first day: a definition in code, so that a new version improves it
// everywhere. It counts cookieless visitors, because on a site without cookies there are no others.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type Dashboard,
  DashboardSchema,
  type TileSchema,
  TimeRangePreset,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  AggregationType,
  TopKQuery_Dimension as Dimension,
  type InsightQuerySpecSchema,
  InsightType,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

export const overviewId = 'overview';

type Spec = MessageInitShape<typeof InsightQuerySpecSchema>;
type TileInit = MessageInitShape<typeof TileSchema>;
/** Columns and rows: x, y, w, h. */
type Place = readonly [number, number, number, number];

const views = { kind: 'page_view' };
const visitorSeries = { event: {}, aggregation: AggregationType.UNIQUE_USERS };
const viewSeries = { event: views, aggregation: AggregationType.TOTAL };
/** Rows of each list. */
const groups = 10;

/** A new message at each call. */
export function overviewDashboard(): Dashboard {
  return create(DashboardSchema, {
    id: overviewId,
    displayName: 'Overview',
    description: 'Visitors, where they come from and what they do. Cookieless visitors count.',
    timeRange: { range: { case: 'preset', value: TimeRangePreset.LAST_30_DAYS } },
    includeCookieless: true,
    tiles: [...numbers(), course(), ...lists()],
    revision: 1,
    builtIn: true,
  });
}

/** Five in the first row, each with the range before. */
function numbers(): TileInit[] {
  const kinds: [id: string, title: string, spec: Spec][] = [
    ['visitors', 'Visitors', number({ events: [visitorSeries] })],
    ['views', 'Page views', number({ events: [viewSeries] })],
    ['visits', 'Visits', visits(SessionMetric.SESSIONS)],
    ['bounce-rate', 'Bounce rate', visits(SessionMetric.BOUNCE_RATE)],
    ['duration', 'Visit duration', visits(SessionMetric.AVG_DURATION)],
  ];
  const columns = [0, 15, 29, 43, 57];
  return kinds.map(([id, title, spec], index) => {
    const width = index === 0 || index === kinds.length - 1 ? 15 : 14;
    return {
      ...tile(id, title, [columns[index] ?? 0, 0, width, 6], spec),
      compareToPrevious: true,
    };
  });
}

function course(): TileInit {
  const spec = { insightType: InsightType.TRENDS, events: [visitorSeries, viewSeries] };
  const shown = tile('course', 'Visitors and page views', [0, 6, 72, 16], spec);
  return { ...shown, compareToPrevious: true };
}

function lists(): TileInit[] {
  return [
    tile('pages', 'Pages', [0, 22, 24, 16], {
      insightType: InsightType.TOP_K,
      topK: { dimension: Dimension.PROPERTY, property: '$pathname', scope: views, limit: groups },
    }),
    tile('entries', 'Entry pages', [24, 22, 24, 16], pathsOf(SessionMetric.ENTRY)),
    tile('exits', 'Exit pages', [48, 22, 24, 16], pathsOf(SessionMetric.EXIT)),
    tile('sources', 'Sources', [0, 38, 24, 16], visitsBy('$referrerDomain')),
    tile('channels', 'Channels', [24, 38, 24, 16], visitsBy('$channel')),
    tile('campaigns', 'Campaigns', [48, 38, 24, 16], visitsBy('$utmCampaign')),
    tile('countries', 'Countries', [0, 54, 24, 16], visitsBy('$country')),
    tile('devices', 'Devices', [24, 54, 24, 16], visitsBy('$deviceType')),
    tile('kinds', 'Events', [48, 54, 24, 16], {
      insightType: InsightType.TOP_K,
      topK: { dimension: Dimension.EVENT_KIND, limit: groups },
    }),
  ];
}

function tile(id: string, title: string, [x, y, w, h]: Place, spec: Spec): TileInit {
  return { id, title, x, y, w, h, content: { case: 'insight', value: spec } };
}

function number(spec: Spec): Spec {
  return { ...spec, insightType: InsightType.SEGMENTATION };
}

function visits(metric: SessionMetric): Spec {
  return number({ session: { metric } });
}

/** Visits by the page of their first or last event. */
function pathsOf(metric: SessionMetric): Spec {
  const breakdowns = [{ property: '$pathname' }];
  return number({ session: { metric, scope: views }, breakdowns, breakdownLimit: groups });
}

/** Visits by a property of their first event. */
function visitsBy(property: string): Spec {
  const session = { metric: SessionMetric.SESSIONS };
  return number({ session, breakdowns: [{ property }], breakdownLimit: groups });
}
