// The five figures of the overview, and what each asks for beside the built-in board: its course over time.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { milliseconds, percent, shortFigure } from '../../platform/words/figures.ts';
import {
  AggregationType,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

export type Measure = {
  /** Of its tile in the built-in board, and in the address. */
  id: string;
  name: string;
  format: (value: number) => string;
  /** Whether more of it is good news: a higher bounce rate is not. */
  isMoreBetter: boolean;
  /** Its course over time; cookieless visitors count, as in the board. */
  trend: InsightQuerySpec;
  /** The place of its series in the board's tile `course`; undefined where the course has to be asked for. */
  inCourse?: number;
  /** What its rows are. */
  rows: { page: 'events' | 'profiles'; kind?: string };
};

function trend(spec: MessageInitShape<typeof InsightQuerySpecSchema>): InsightQuerySpec {
  return create(InsightQuerySpecSchema, {
    ...spec,
    insightType: InsightType.TRENDS,
    includeCookieless: true,
  });
}

const visits = (metric: SessionMetric): InsightQuerySpec => trend({ session: { metric } });

export const measures: readonly Measure[] = [
  {
    id: 'visitors',
    name: 'Visitors',
    format: shortFigure,
    isMoreBetter: true,
    trend: trend({ events: [{ event: {}, aggregation: AggregationType.UNIQUE_USERS }] }),
    inCourse: 0,
    rows: { page: 'profiles' },
  },
  {
    id: 'views',
    name: 'Page views',
    format: shortFigure,
    isMoreBetter: true,
    trend: trend({
      events: [{ event: { kind: 'page_view' }, aggregation: AggregationType.TOTAL }],
    }),
    inCourse: 1,
    rows: { page: 'events', kind: 'page_view' },
  },
  {
    id: 'visits',
    name: 'Visits',
    format: shortFigure,
    isMoreBetter: true,
    trend: visits(SessionMetric.SESSIONS),
    rows: { page: 'events' },
  },
  {
    id: 'bounce-rate',
    name: 'Bounce rate',
    format: percent,
    isMoreBetter: false,
    trend: visits(SessionMetric.BOUNCE_RATE),
    rows: { page: 'events' },
  },
  {
    id: 'duration',
    name: 'Visit duration',
    format: (seconds) => milliseconds(seconds * 1000),
    isMoreBetter: true,
    trend: visits(SessionMetric.AVG_DURATION),
    rows: { page: 'events' },
  },
];
