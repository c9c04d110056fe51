// Points of numbers over a generated project: bars of a trend, steps of a funnel, cells of cohorts, states of a
// lifecycle and rows of a top list.

import { call } from '../../clients/client.ts';
import { kinds } from '../project/catalogue.ts';
import type { Season } from '../project/seasons.ts';
import { type Question, requestOf } from '../questions/question.ts';
import { lifecycleStates, type PersonsPoint } from './persons-behind.ts';

/** Of no kind that the other has. */
const some = { kinds: kinds.slice(0, 7) };
const others = { kinds: kinds.slice(7) };
const property = '$browser';
const values = ['Chrome', 'Firefox', 'Safari', 'Edge'];

export interface NumberPoint {
  question: Question;
  point: PersonsPoint;
}

/** `days`: how many buckets the season has in the zone. */
export function pointsOf({ fromMs, toMs }: Season, timezone: string, days: number): NumberPoint[] {
  const asked = { fromMs, toMs, timezone, granularity: 'DAY' } as const;
  const places = Array.from({ length: days }, (_, index) => index + 1);
  const of = (question: Pick<Question, 'type'> & Partial<Question>, points: PersonsPoint[]) =>
    points.map((point) => ({ question: { ...asked, ...question }, point }));
  const events = [{ event: some }];
  const topK = { dimension: 'PROPERTY', property, scope: some, metric: 'UNIQUE_USERS' } as const;
  return [
    ...of(
      { type: 'TRENDS', events: [{ event: some, aggregation: 'UNIQUE_USERS' }] },
      places.map((bucket) => ({ of: 'bar', bucket })),
    ),
    ...of(
      { type: 'FUNNEL', events: [...events, { event: others }], conversionWindowMs: 86_400_000 },
      [
        { of: 'step', step: 1, droppedOff: false },
        { of: 'step', step: 1, droppedOff: true },
        { of: 'step', step: 2, droppedOff: false },
      ],
    ),
    ...of(
      { type: 'RETENTION', events },
      places.flatMap((bucket) => [
        { of: 'cell', bucket } as const,
        ...places.slice(bucket - 1).map((returned) => ({ of: 'cell', bucket, returned }) as const),
      ]),
    ),
    ...of(
      { type: 'LIFECYCLE', events },
      places.flatMap((bucket) =>
        lifecycleStates.map((state) => ({ of: 'state', bucket, state }) as const),
      ),
    ),
    ...of(
      { type: 'TOP_K', topK },
      values.map((value) => ({ of: 'row', property, value })),
    ),
  ];
}

const path = '/shared.insights.v1.InsightsService/SegmentUsers';

/** The ids of the persons that the product lists, ascending; `starts` are those of the buckets. */
export async function listedPersons(
  { baseUrl, privateKey }: { baseUrl: string; privateKey: string },
  { question, point }: NumberPoint,
  starts: readonly number[],
): Promise<string[]> {
  const { timeRange, ...asked } = requestOf(question);
  const found: string[] = [];
  let pageToken = '';
  do {
    const body = {
      timeRange,
      pageToken,
      pageSize: 20,
      point: { ...asked, ...pointJson(point, starts) },
    };
    const answer = await call(baseUrl, path, privateKey, body);
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    const { profiles = [], nextPageToken = '' } = answer.body;
    found.push(...(profiles as { id: string }[]).map(({ id }) => id));
    pageToken = String(nextPageToken);
  } while (pageToken !== '');
  return found.toSorted();
}

function pointJson(point: PersonsPoint, starts: readonly number[]): Record<string, unknown> {
  const startOf = (place: number): string => new Date(starts[place - 1] ?? 0).toISOString();
  switch (point.of) {
    case 'bar':
      return { bucket: startOf(point.bucket) };
    case 'step':
      return { step: point.step, droppedOff: point.droppedOff };
    case 'cell': {
      const { bucket, returned } = point;
      return { bucket: startOf(bucket), ...(returned && { returned: startOf(returned) }) };
    }
    case 'state':
      return { bucket: startOf(point.bucket), state: `LIFECYCLE_STATE_${point.state}` };
    case 'row':
      return { dimensionValue: point.value };
    default:
      return point satisfies never;
  }
}
