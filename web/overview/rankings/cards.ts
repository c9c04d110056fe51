// The rankings of the overview: cards with tabs. Each tab is a question, and a second one about the same groups.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { figure, percent } from '../../../platform/words/figures.ts';
import type { PropertyFilter } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  TopKQuery_Dimension as Dimension,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  SessionMetric,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { oneOf } from './narrowing.ts';

export type Figure = { name: string; format: (value: number) => string };

export type Ranking = {
  /** In the address, and of the tile of the built-in board that has its answer. */
  id: string;
  /** Of its tab. */
  name: string;
  /** What stands in its rows: "Page". */
  column: string;
  /** The property that a row filters by; undefined where rows are kinds of events. */
  property: string | undefined;
  /** Whether the built-in board has it; the others are asked for once their tab is opened. */
  isOfBoard: boolean;
  figure: Figure;
  /** At most 100 groups. */
  spec: (groups: number) => InsightQuerySpec;
  /** The same groups where their value passes the filters, each with the number that it has in `spec`. */
  narrowed?: (filters: PropertyFilter[]) => InsightQuerySpec;
  second?: Second;
  /** Rows are groups of visits, which add up, and hosts of one site are shown as one. */
  isOfSites?: boolean;
  isOnMap?: boolean;
  /** Stands in the menu at the end of the card's tabs: more of them would not fit a line. */
  isInMenu?: boolean;
};

export type Second = Figure & {
  /** The same groups as `spec`; `texts` are their values. */
  spec: (groups: number, texts: readonly string[]) => InsightQuerySpec;
  /** Of these values, whatever else there is. */
  narrowed?: (texts: readonly string[]) => InsightQuerySpec;
  /** Of each visit of a group, so that it can be worked out for several groups together. */
  isRateOfVisits: boolean;
};

export type Card = { name: string; title: string; rankings: readonly Ranking[] };

/** As many as one answer can have. */
export const mostGroups = 100;

const views = { kind: 'page_view' };
const visitFigure: Figure = { name: 'Visits', format: figure };
const visitorFigure: Figure = { name: 'Visitors', format: figure };

function question(spec: MessageInitShape<typeof InsightQuerySpecSchema>): InsightQuerySpec {
  return create(InsightQuerySpecSchema, spec);
}

function visitsBy(
  id: string,
  name: string,
  column: string,
  property: string,
  more: Partial<Ranking> = {},
): Ranking {
  const spec = (metric: SessionMetric, groups: number, filters: PropertyFilter[] = []) =>
    question({
      insightType: InsightType.SEGMENTATION,
      session: { metric, ...(filters.length > 0 && { scope: { filters } }) },
      breakdowns: [{ property }],
      breakdownLimit: groups,
    });
  return {
    ...{ id, name, column, property, isOfBoard: false, figure: visitFigure },
    spec: (groups) => spec(SessionMetric.SESSIONS, groups),
    // A visit is of the group of its first event: those that a first event of any kind passes the filters of.
    narrowed: (filters) => spec(SessionMetric.ENTRY, mostGroups, filters),
    // Groups of both are ranked by the number of their visits, so that they are the same.
    second: {
      ...{ name: 'Bounce rate', format: percent, isRateOfVisits: true },
      spec: (groups) => spec(SessionMetric.BOUNCE_RATE, groups),
      // Visits in which any event has one of the values: those that begin with it are all among them.
      narrowed: (texts) => spec(SessionMetric.BOUNCE_RATE, mostGroups, [oneOf(property, texts)]),
    },
    ...more,
  };
}

/** Page views by a property, with the visitors of each value. */
function viewsBy(
  id: string,
  name: string,
  column: string,
  property: string,
  isOfBoard: boolean,
): Ranking {
  const spec = (metric: AggregationType, limit: number, filters: PropertyFilter[] = []) =>
    question({
      insightType: InsightType.TOP_K,
      topK: {
        ...{ dimension: Dimension.PROPERTY, property, limit, metric },
        scope: { ...views, filters },
      },
    });
  const { UNSPECIFIED: TOTAL, UNIQUE_USERS } = AggregationType;
  const visitors = (groups: number, texts: readonly string[]) =>
    spec(UNIQUE_USERS, groups, texts.length > 0 ? [oneOf(property, texts)] : []);
  return {
    ...{ id, name, column, property, isOfBoard, figure: { name: 'Views', format: figure } },
    spec: (groups) => spec(TOTAL, groups),
    narrowed: (filters) => spec(TOTAL, mostGroups, filters),
    second: {
      ...visitorFigure,
      isRateOfVisits: false,
      spec: visitors,
      narrowed: (texts) => visitors(mostGroups, texts),
    },
  };
}

function edgePages(id: string, name: string, metric: SessionMetric): Ranking {
  const property = '$pathname';
  const spec = (groups: number, filters: PropertyFilter[] = []) =>
    question({
      insightType: InsightType.SEGMENTATION,
      session: { metric, scope: { ...views, filters } },
      breakdowns: [{ property }],
      breakdownLimit: groups,
    });
  return {
    ...{ id, name, column: 'Page', property, isOfBoard: true, figure: visitFigure },
    spec: (groups) => spec(groups),
    narrowed: (filters) => spec(mostGroups, filters),
  };
}

const kinds: Ranking = {
  ...{ id: 'kinds', name: 'Events', column: 'Event', property: undefined, isOfBoard: true },
  figure: { name: 'Events', format: figure },
  spec: (limit) =>
    question({
      insightType: InsightType.TOP_K,
      topK: { dimension: Dimension.EVENT_KIND, limit },
    }),
  second: {
    ...visitorFigure,
    isRateOfVisits: false,
    // Ranked by visitors: a project with more kinds than that may lack the number of a kind.
    spec: () =>
      question({
        insightType: InsightType.TOP_K,
        topK: {
          dimension: Dimension.EVENT_KIND,
          limit: mostGroups,
          metric: AggregationType.UNIQUE_USERS,
        },
      }),
  },
};

const ofBoard = { isOfBoard: true };

export const cards: readonly Card[] = [
  {
    name: 'pages',
    title: 'Pages',
    rankings: [
      viewsBy('pages', 'Pages', 'Page', '$pathname', true),
      edgePages('entries', 'Entry', SessionMetric.ENTRY),
      edgePages('exits', 'Exit', SessionMetric.EXIT),
      viewsBy('titles', 'Titles', 'Title', '$title', false),
    ],
  },
  {
    name: 'sources',
    title: 'Sources',
    rankings: [
      visitsBy('sources', 'Sources', 'Source', '$referrerDomain', { ...ofBoard, isOfSites: true }),
      visitsBy('channels', 'Channels', 'Channel', '$channel', ofBoard),
      visitsBy('campaigns', 'Campaigns', 'UTM campaign', '$utmCampaign', {
        ...ofBoard,
        isInMenu: true,
      }),
      visitsBy('utm-sources', 'UTM source', 'UTM source', '$utmSource', { isInMenu: true }),
      visitsBy('utm-media', 'UTM medium', 'UTM medium', '$utmMedium', { isInMenu: true }),
      visitsBy('utm-terms', 'UTM term', 'UTM term', '$utmTerm', { isInMenu: true }),
      visitsBy('utm-contents', 'UTM content', 'UTM content', '$utmContent', { isInMenu: true }),
    ],
  },
  {
    name: 'places',
    title: 'Places',
    rankings: [
      visitsBy('countries', 'Countries', 'Country', '$country', ofBoard),
      visitsBy('map', 'Map', 'Country', '$country', { isOnMap: true }),
      visitsBy('regions', 'Regions', 'Region', '$region'),
      visitsBy('cities', 'Cities', 'City', '$city'),
      visitsBy('languages', 'Languages', 'Language', '$language'),
    ],
  },
  {
    name: 'devices',
    title: 'Devices',
    rankings: [
      visitsBy('devices', 'Devices', 'Device', '$deviceType', ofBoard),
      visitsBy('browsers', 'Browsers', 'Browser', '$browser'),
      visitsBy('systems', 'Systems', 'System', '$os'),
      visitsBy('screens', 'Screens', 'Screen', '$viewport'),
    ],
  },
  { name: 'events', title: 'Events', rankings: [kinds] },
];
