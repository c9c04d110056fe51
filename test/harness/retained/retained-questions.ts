// Every form of question, and the lists, over a range that begins before a project's events are kept.

import { dayMs } from '../../../platform/clock.ts';

interface Ask {
  name: string;
  method: string;
  body: object;
  /** Depends on when a profile was first seen, or on sums of all its events. */
  ofProfiles?: boolean;
}

const query = 'shared.insights.v1.InsightsService/Query';
const event = (kind: string, more: object = {}) => ({ event: { kind }, ...more });
const users = { aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' };
const pages = { dimension: 'DIMENSION_PROPERTY', property: '$pathname' };

export function asks(boundaryMs: number, nowMs: number): Ask[] {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const range = { from: iso(boundaryMs - 20 * dayMs), to: iso(nowMs) };
  const ask = (name: string, spec: object, more: object = {}): Ask => ({
    ...{ name, method: query },
    body: { spec, timeRange: range, granularity: 'GRANULARITY_DAY', ...more },
  });
  const of = (type: string, more: object): object => ({
    insightType: `INSIGHT_TYPE_${type}`,
    ...more,
  });
  const views = [event('page_view')];
  const viewers = [event('page_view', users)];
  const metric = (name: string) => ({ metric: `SESSION_METRIC_${name}` });
  return [
    ask('events a day', of('TRENDS', { events: views })),
    ask('users a day', of('TRENDS', { events: viewers })),
    ask('users a day in Kolkata', of('TRENDS', { events: viewers }), { timezone: 'Asia/Kolkata' }),
    ask('users a week', of('TRENDS', { events: viewers }), { granularity: 'GRANULARITY_WEEK' }),
    ask('users of seven days', of('TRENDS', { events: viewers, rollingDays: 7 })),
    ask(
      'users by country',
      of('SEGMENTATION', { events: viewers, breakdowns: [{ property: '$country' }] }),
    ),
    ask(
      'events by tier',
      of('SEGMENTATION', { events: views, breakdowns: [{ property: 'profile.tier' }] }),
    ),
    ask(
      'sums',
      of('TRENDS', {
        events: [
          event('buy', { aggregation: 'AGGREGATION_TYPE_SUM', aggregationProperty: 'price' }),
        ],
      }),
    ),
    ask('cookieless too', of('TRENDS', { events: viewers, includeCookieless: true })),
    ask('compared', of('TRENDS', { events: views, compare: 'COMPARE_PREVIOUS_PERIOD' }), {
      timeRange: { from: iso(boundaryMs + 2 * dayMs), to: iso(boundaryMs + 12 * dayMs) },
    }),
    ask(
      'funnel',
      of('FUNNEL', {
        events: [event('page_view'), event('cart'), event('buy')],
        includeStepTiming: true,
      }),
    ),
    ask('retention', of('RETENTION', { events: views }), { granularity: 'GRANULARITY_WEEK' }),
    ask('stickiness', of('STICKINESS', { events: views })),
    ask('ways', of('USER_FLOW', { userFlow: { nodeKind: 'NODE_KIND_EVENT_KIND' } })),
    ask('pages', of('TOP_K', { topK: pages })),
    ask('kinds', of('TOP_K', { topK: { dimension: 'DIMENSION_EVENT_KIND' } })),
    ask('revenue', of('REVENUE', { events: [event('buy')] })),
    ...[
      'SESSIONS',
      'AVG_DURATION',
      'BOUNCE_RATE',
      'ENTRY',
      'EXIT',
      'AVG_EVENTS_PER_SESSION',
    ].flatMap((name) => [
      ask(`visits ${name}`, of('TRENDS', { session: metric(name) })),
      ask(
        `visits ${name} by page`,
        of('SEGMENTATION', { session: metric(name), breakdowns: [{ property: '$pathname' }] }),
      ),
    ]),
    { ...ask('lifecycle', of('LIFECYCLE', { events: views })), ofProfiles: true },
    {
      name: 'who viewed',
      method: 'shared.insights.v1.InsightsService/SegmentUsers',
      body: { timeRange: range, events: [event('page_view')] },
    },
    {
      name: 'events',
      method: 'shared.activity.v1.ActivityService/List',
      body: { pageSize: 1_000 },
    },
    {
      name: 'visits',
      method: 'shared.activity.v1.ActivityService/ListVisits',
      body: { timeRange: range },
    },
    {
      name: 'days of a user',
      method: 'shared.activity.v1.ActivityService/GetActivityHeatmap',
      body: { distinctId: 'user-1', timeRange: range },
    },
    {
      name: 'totals of a user',
      method: 'shared.activity.v1.ActivityService/GetProfileStats',
      body: { distinctId: 'user-1' },
      ofProfiles: true,
    },
    {
      name: 'a profile',
      method: 'shared.profiles.v1.ProfilesService/GetByExternalId',
      body: { externalId: 'user-2' },
      ofProfiles: true,
    },
    {
      name: 'names of properties',
      method: 'shared.insights.v1.InsightsService/GetFilterSchema',
      body: {},
      ofProfiles: true,
    },
  ];
}

/** The same for any project: without its ids, in an order of its own, and without what says that events are gone. */
export function withoutRetention(answer: unknown, projectId: string): unknown {
  const text = JSON.stringify(answer, (key, value: unknown) => {
    if (
      [
        'profileId',
        'projectId',
        'id',
        'createTime',
        'updateTime',
        'completeUntil',
        'nextPageToken',
      ].includes(key)
    )
      return undefined;
    if (key === 'leftOut' && Array.isArray(value)) {
      const others = value.filter(({ reason }) => reason !== 'REASON_OLDER_THAN_RETENTION');
      return others.length === 0 ? undefined : others;
    }
    if (Array.isArray(value)) return value.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
    return value;
  });
  return JSON.parse(text.replaceAll(projectId, 'project'));
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
