// What a question asks for: its form, aggregations, operators, sources, unit, metric, node and dimension.

import type { Filter } from './event-filter.ts';
import type { Question } from './question.ts';

/** Each feature of a question once, such as `operator IN`. */
export function featuresOf(question: Question): string[] {
  return [...new Set(namedFeatures(question))];
}

function namedFeatures(question: Question): string[] {
  const { session, userFlow, topK, events = [], breakdowns = [], filterGroups = [] } = question;
  const scopes = [
    session?.scope,
    userFlow?.scope,
    topK?.scope,
    ...events.map(({ event }) => event),
  ];
  const filters = [...scopes, ...filterGroups].flatMap((scope) => scope?.filters ?? []);
  const takesAggregation = question.type === 'TRENDS' || question.type === 'SEGMENTATION';
  return [
    `form ${session ? 'VISITS ' : ''}${question.type}`,
    `unit ${question.granularity ?? 'none'}`,
    ...(takesAggregation && !session
      ? events.map(({ aggregation }) => `aggregation ${aggregation}`)
      : []),
    ...events.flatMap(({ revenue }) => (revenue ? [`revenue ${revenue}`] : [])),
    ...filters.map(({ operator }) => `operator ${operator}`),
    ...filters.map((filter) => `filter source ${sourceOf(filter)}`),
    ...breakdowns.map((name) => `breakdown source ${breakdownSource(name)}`),
    ...(session ? [`session metric ${session.metric}`] : []),
    ...(userFlow?.groupBy ? [`ways of ${userFlow.groupBy}`] : []),
    ...Object.keys(question.flow ?? {}).map((end) => `ways ${end}`),
    ...(userFlow ? [`node ${userFlow.nodeKind ?? 'EVENT_KIND'}`] : []),
    ...(topK ? [`dimension ${topK.dimension}`, `top metric ${topK.metric ?? 'TOTAL'}`] : []),
    ...(scopes.some((scope) => scope?.kinds)
      ? [`kinds ${session ? 'VISITS' : question.type}`]
      : []),
    ...(question.touch ? [`touch ${question.touch}`] : []),
    ...(question.compare ? [`compare ${question.compare}`] : []),
    ...(question.retention?.first ? [`retention ${question.retention.first}`] : []),
    ...(question.retention?.unbounded ? ['retention unbounded'] : []),
    ...(question.retention?.rolling24h ? ['retention rolling'] : []),
    ...(question.movingAverage ? [`average ${session ? 'VISITS' : question.type}`] : []),
    ...(question.movingAverage && breakdowns.length > 0 ? ['average by groups'] : []),
    ...(question.movingAverage && question.formulas ? ['average formulas'] : []),
    ...(question.eventsPerUser ? ['events per user'] : []),
    ...(question.eventsPerUser && breakdowns.length > 0 ? ['events per user by groups'] : []),
    ...(question.eventsPerUser && question.cumulative ? ['events per user or more'] : []),
    ...(question.cumulative ? [`cumulative ${question.type}`] : []),
    ...(breakdowns.length > 0 ? [`groups ${question.type}`] : []),
    ...(question.rollingDays || events.some((one) => one.rollingDays) ? ['rolling'] : []),
    ...(question.formulas ? ['formulas'] : []),
    ...(question.formulas && breakdowns.length > 0 ? ['formulas by groups'] : []),
    ...funnelFeatures(question),
    ...(question.granularity === 'WEEK' && question.weekStart
      ? ['weeks', `weeks from ${question.weekStart}`]
      : []),
    ...(question.asOfMs === undefined ? [] : ['as of']),
    ...(question.includeCookieless ? ['cookieless'] : []),
    ...(question.includeStepTiming ? ['step timing'] : []),
  ];
}

function funnelFeatures({ type, funnel, breakdowns = [], asOfMs }: Question): string[] {
  if (type !== 'FUNNEL' || funnel === undefined) return [];
  const {
    order = 'ORDERED',
    exclusions = [],
    holdProperty,
    overTime,
    reentry,
    optionalSteps = [],
  } = funnel;
  return [
    `funnel ${order}`,
    ...(exclusions.length > 0 ? ['funnel exclusions'] : []),
    ...(holdProperty === '$sessionId' ? ['funnel per visit'] : []),
    ...(holdProperty ? ['funnel held'] : []),
    ...(overTime ? ['funnel over time'] : []),
    ...(overTime && breakdowns.length > 0 ? ['funnel over time by groups'] : []),
    ...(optionalSteps.length > 0 ? ['funnel optional steps'] : []),
    ...(optionalSteps.length > 0 && breakdowns.length > 0 ? ['funnel optional by groups'] : []),
    ...(reentry === 'FIRST' ? ['funnel first entry'] : []),
    ...(asOfMs === undefined ? [] : ['funnel as of']),
  ];
}

function sourceOf({ source, property }: Filter): string {
  return source ?? (property.startsWith('$') ? 'AUTO' : 'CUSTOM');
}

function breakdownSource(name: string): string {
  if (name.startsWith('profile.')) return 'PROFILE';
  return name.startsWith('$') ? 'AUTO' : 'CUSTOM';
}
