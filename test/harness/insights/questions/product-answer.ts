// The product's answer in the form in which it is compared with the oracle's: read from the JSON as it came, without
// the generated messages.

import { call } from '../../clients/client.ts';
import type { LeftOut, Part } from '../oracle/part.ts';
import { type Question, requestOf } from './question.ts';

type Json = Record<string, unknown>;

const path = '/shared.insights.v1.InsightsService/Query';

/** Throws with status and body where the answer is not 200. */
export async function productAnswer(
  stack: { baseUrl: string; privateKey: string },
  question: Question,
): Promise<Part & { completeUntilMs: number; identitiesAreCurrent: boolean }> {
  const { status, body } = await call(stack.baseUrl, path, stack.privateKey, requestOf(question));
  if (status !== 200) throw new Error(`Query: ${status} ${JSON.stringify(body)}`);
  return readAnswer(body);
}

/** The JSON of an answer. */
export function readAnswer(
  body: Json,
): Part & { completeUntilMs: number; identitiesAreCurrent: boolean } {
  return {
    result: { ...readResult(body), ...previousIn(body) },
    leftOut: readLeftOut(list(body['leftOut'])),
    completeUntilMs: ms(body['completeUntil']),
    identitiesAreCurrent: body['identitiesAreCurrent'] === true,
  };
}

function previousIn({ previous }: Json): Json {
  if (!isJson(previous)) return {};
  const { result, leftOut } = readAnswer(previous);
  return { previous: { result, leftOut } };
}

function readLeftOut(entries: readonly Json[]): LeftOut {
  const counts: LeftOut = {};
  for (const { reason, count } of entries) {
    const name = String(reason).replace('REASON_', '');
    if (name in counts) throw new Error(`${name} is there twice`);
    if (Number(count ?? 0) !== 0) counts[name] = Number(count);
  }
  return counts;
}

function readResult(body: Json): Json {
  const { trends, segmentation, funnel, retention, userFlow, topK, lifecycle, ...more } = body;
  const { stickiness, revenue } = more;
  if (isJson(revenue)) return { revenue: { series: list(revenue['series']).map(readTrend) } };
  if (isJson(trends)) return { trends: { series: list(trends['series']).map(readTrend) } };
  if (isJson(segmentation)) {
    const series = list(segmentation['series']).map((one) => ({
      ...head(one),
      value: valueIn(one),
    }));
    return { segmentation: { total: number(segmentation['total']), series } };
  }
  if (isJson(funnel)) return { funnel: { series: list(funnel['series']).map(readFunnel) } };
  if (isJson(retention)) {
    return { retention: { series: list(retention['series']).map(readRetention) } };
  }
  if (isJson(userFlow)) return { userFlow: readFlow(userFlow) };
  if (isJson(topK)) return { topK: { rows: list(topK['rows']).map(readTopRow) } };
  if (isJson(lifecycle)) {
    const series = list(lifecycle['series']).map((one) => ({ ...group(one), ...readStates(one) }));
    return { lifecycle: { ...readStates(lifecycle), series } };
  }
  if (!isJson(stickiness)) throw new Error(`no result: ${JSON.stringify(body)}`);
  const series = list(stickiness['series']).map((one) => ({ ...group(one), ...readCounted(one) }));
  return { stickiness: { ...readCounted(stickiness), series } };
}

function readStates(one: Json): Json {
  const names = ['newUsers', 'returningUsers', 'resurrectingUsers', 'dormantUsers'];
  const states = names.map((name) => [name, points(one[name])]);
  return { ...Object.fromEntries(states), incompleteFrom: momentIn(one) };
}

function readCounted(one: Json): Json {
  const counted = list(one['points']).map(({ buckets, events, eventsTo = null, value }) =>
    events === undefined
      ? [Number(buckets ?? 0), number(value)]
      : [Number(events), eventsTo, number(value)],
  );
  return { points: counted, incompleteFrom: momentIn(one) };
}

function readTrend(series: Json): Json {
  const read = list(series['points']).map((point) => [ms(point['time']), valueIn(point, series)]);
  return { ...head(series), points: read, incompleteFrom: momentIn(series) };
}

function head(series: Json): Json {
  return {
    eventKind: series['eventKind'] ?? '',
    eventIndex: series['eventIndex'] ?? 0,
    ...('formulaIndex' in series && { formulaIndex: series['formulaIndex'] }),
    ...('currency' in series && { currency: series['currency'] }),
    ...group(series),
  };
}

function group(series: Json): Json {
  return { breakdown: series['breakdown'] ?? {}, isOthers: series['isOthers'] ?? false };
}

function readFunnel(series: Json): Json {
  const steps = list(series['steps']).map(({ eventKind, isOptional, total, timing }) => ({
    eventKind: eventKind ?? '',
    ...(isOptional === true && { isOptional }),
    total: number(total),
    ...(isJson(timing) && { timing: readTiming(timing) }),
  }));
  const buckets = list(series['buckets']).map(({ time, totals, open }) => [
    ...[ms(time), Array.isArray(totals) ? totals.map(number) : [], number(open)],
  ]);
  const isIncomplete = series['incompleteFrom'] !== undefined;
  return { ...group(series), open: number(series['open']), isIncomplete, steps, buckets };
}

function readTiming({ avg, median, p95, distribution }: Json): Json {
  return {
    avg: durationMs(avg),
    median: durationMs(median),
    p95: durationMs(p95),
    distribution: list(distribution).map(({ upperBound, count }) => ({
      upperBound: upperBound === undefined ? null : durationMs(upperBound),
      count: number(count),
    })),
  };
}

function readRetention(series: Json): Json {
  const cohorts = list(series['cohorts']).map((one) => ({
    cohort: ms(one['cohort']),
    size: number(one['cohortSize']),
    points: points(one['points']),
    incompleteFrom: momentIn(one),
  }));
  const means = list(series['means']).map(({ size = 0, returned = 0, share, meanOfShares }) => ({
    ...{ size, returned, share, meanOfShares },
  }));
  return { ...group(series), cohorts, means, incompleteFrom: momentIn(series) };
}

function readFlow({ nodes, links }: Json): Json {
  const read = list(nodes).map(({ id, isOthers }) => ({
    id: String(id),
    isOthers: isOthers ?? false,
  }));
  return {
    nodes: read.sort((a, b) => (a.id < b.id ? -1 : 1)),
    links: list(links).map(({ source, target, value }) => ({
      source,
      target,
      value: number(value),
    })),
  };
}

function readTopRow({ dimensionValue, value, isOthers = false, isAbsent = false }: Json): Json {
  const hasName = !isOthers && !isAbsent;
  // An empty name is told, too.
  if (hasName !== (typeof dimensionValue === 'string')) throw new Error('a row is named wrongly');
  return { dimensionValue: dimensionValue ?? '', value: number(value), isOthers, isAbsent };
}

/** Only what a formula makes may have no value. */
function valueIn(one: Json, series = one): number | undefined {
  const isAbsent = 'formulaIndex' in series && one['value'] === undefined;
  return isAbsent ? undefined : number(one['value']);
}

function points(value: unknown): [number, number][] {
  return list(value).map((point) => [ms(point['time']), number(point['value'])]);
}

/** A number that must be there, zero too; int64 comes as text. */
function number(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'string') return Number(value);
  throw new Error(`${JSON.stringify(value)} is no number`);
}

function momentIn({ incompleteFrom }: Json): number | undefined {
  return incompleteFrom === undefined ? undefined : ms(incompleteFrom);
}

function durationMs(value: unknown): number {
  const match = /^(-?[\d.]+)s$/.exec(String(value));
  if (match === null) throw new Error(`${JSON.stringify(value)} is no duration`);
  // Whole nanoseconds: 16,470.028 s times a thousand is a double less.
  return Math.round(Number(match[1]) * 1e9) / 1e6;
}

function ms(value: unknown): number {
  const parsed = Date.parse(String(value));
  if (Number.isNaN(parsed)) throw new Error(`${JSON.stringify(value)} is no moment`);
  return parsed;
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
