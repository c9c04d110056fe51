// Questions about segments, as a filter and as a split: of who bought once in the range, and of who saw five pages. The
// bench of members asks them of a funnel and of a retention.

import { create } from '@bufbuild/protobuf';
import { buckets } from '../../../../platform/broker/buckets.ts';
import { connectBroker } from '../../../../platform/broker/nats.ts';
import { openBucket } from '../../../../platform/broker/record-bucket.ts';
import { createLog } from '../../../../platform/log.ts';
import {
  itemRecord,
  itemsKey,
  readProjectItems,
} from '../../../../platform/project-items/project-items.ts';
import { SegmentSchema } from '../../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import type { Stack } from '../../../../test/harness/servers/stack.ts';
import { cohortRows, listOf, pointRows, pointsOfSeries } from '../answers.ts';
import {
  countedSteps,
  fromSteps,
  funnelOf,
  reachedIn,
  steps,
} from '../funnels/funnel-questions.ts';
import type { Layout } from '../layout.ts';
import { type Asked, dayOf, type Question, within } from '../question.ts';

interface ShopSegment {
  id: string;
  name: string;
  kind: string;
  atLeast: number;
}

const buyers: ShopSegment = {
  ...{ id: '00000000-0000-4000-8000-000000000001', name: 'buyers' },
  ...{ kind: 'purchase', atLeast: 1 },
};
const readers: ShopSegment = {
  ...{ id: '00000000-0000-4000-8000-000000000002', name: 'readers' },
  ...{ kind: 'page_view', atLeast: 5 },
};
const shopSegments = [buyers, readers];

/** Stores the segments that the questions name, unless the shop has them of a run before. */
export async function keepSegments({ natsUrl, projectId }: Stack): Promise<void> {
  const connection = await connectBroker(natsUrl, createLog('silent'));
  try {
    const bucket = await openBucket(connection, buckets.projectItems, readProjectItems);
    const items = shopSegments.map(({ id, name, kind, atLeast }, place) => {
      const times = { case: 'atLeast', value: atLeast } as const;
      const tests = [{ test: { case: 'did', value: { event: { kind }, times } } as const }];
      const segment = create(SegmentSchema, {
        id,
        displayName: name,
        condition: { groups: [{ tests }] },
      });
      return itemRecord(SegmentSchema, segment, place);
    });
    await bucket.create(itemsKey('segments', projectId), { schemaVersion: 1, items });
  } finally {
    await connection.close();
  }
}

const event = { kind: 'page_view' };
const aggregation = 'AGGREGATION_TYPE_UNIQUE_USERS';
const spec = { insightType: 'INSIGHT_TYPE_TRENDS', events: [{ event, aggregation }] };

function usersOf(layout: Layout, asked: Asked, kind: string): string {
  return `FROM ${layout.fromPersons} WHERE ${within(layout, asked)} AND ${layout.hasUser} AND ${layout.kind} = '${kind}'`;
}

function isMember(layout: Layout, asked: Asked, { kind, atLeast }: ShopSegment): string {
  const members = `SELECT ${layout.user} AS person ${usersOf(layout, asked, kind)} GROUP BY person HAVING count() >= ${atLeast}`;
  return `${layout.user} IN (${members})`;
}

/** The chains of buyers alone. */
const funnelOfBuyers = funnelOf(
  'funnel of 3 steps, buyers',
  {},
  {
    queries: [
      {
        granularity: 'GRANULARITY_DAY',
        spec: {
          ...{
            insightType: 'INSIGHT_TYPE_FUNNEL',
            conversionWindow: '86400s',
            segments: [buyers.id],
          },
          events: steps.map((kind) => ({ event: { kind } })),
        },
      },
    ],
    sql: (layout, asked) =>
      countedSteps(`SELECT ${reachedIn(layout, asked, steps)} AS reached
        ${fromSteps(layout, asked)} AND ${isMember(layout, asked, buyers)} GROUP BY ${layout.user}`),
  },
);

const retentionByBuyers: Question = {
  ...{ name: 'weekly retention by buyers or not', daysAreKept: true, days: 56 },
  queries: [
    {
      granularity: 'GRANULARITY_WEEK',
      spec: {
        ...{ insightType: 'INSIGHT_TYPE_RETENTION', events: [{ event }] },
        breakdowns: [{ property: `segment.${buyers.id}` }],
      },
    },
  ],
  sql: (layout, asked) => {
    const week = `toStartOfWeek(${layout.time}, 1, '${asked.timezone}')`;
    const seconds = (of: string): string =>
      `toUnixTimestamp(toDateTime(${of}, '${asked.timezone}'))`;
    return `SELECT member, ${seconds('arrayMin(weeks)')} AS cohort, ${seconds('arrayJoin(weeks)')} AS later, count()
      FROM (SELECT ${layout.user} AS person, groupUniqArray(${week}) AS weeks,
          any(if(${isMember(layout, asked, buyers)}, 'in', 'not in')) AS member
        ${usersOf(layout, asked, event.kind)} GROUP BY person)
      GROUP BY member, cohort, later`;
  },
  rowsOf: cohortRows,
};

export const segmentMembers: readonly Question[] = [funnelOfBuyers, retentionByBuyers];

export const segmentQuestions: readonly Question[] = shopSegments.flatMap((segment): Question[] => [
  {
    ...{ name: `users a day of one kind, ${segment.name}`, daysAreKept: true, days: 30 },
    queries: [{ granularity: 'GRANULARITY_DAY', spec: { ...spec, segments: [segment.id] } }],
    sql: (layout, asked) => `SELECT ${dayOf(layout, asked)} AS day, uniqExact(${layout.user})
      ${usersOf(layout, asked, event.kind)} AND ${isMember(layout, asked, segment)} GROUP BY day`,
    rowsOf: pointsOfSeries,
  },
  {
    ...{ name: `the same by ${segment.name} or not`, daysAreKept: true, days: 30 },
    queries: [
      {
        granularity: 'GRANULARITY_DAY',
        spec: { ...spec, breakdowns: [{ property: `segment.${segment.id}` }] },
      },
    ],
    sql: (
      layout,
      asked,
    ) => `SELECT if(${isMember(layout, asked, segment)}, 'in', 'not in') AS member,
        ${dayOf(layout, asked)} AS day, uniqExact(${layout.user})
      ${usersOf(layout, asked, event.kind)} GROUP BY member, day`,
    rowsOf: (answers) =>
      answers.flatMap((answer) =>
        listOf(answer, 'trends', 'series').flatMap((series) =>
          pointRows(
            listOf(series, 'points'),
            ...Object.values(series['breakdown'] ?? {}).map(String),
          ),
        ),
      ),
  },
]);
