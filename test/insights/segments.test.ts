// Generated questions about generated segments, answered by the product, by each source of its ladder that does not
// refuse them, by rows of events alone, and by DuckDB from the events as they were sent.
// MILLRACE_ORACLE_SEED sets what is drawn.
// Takes some 310 seconds.

import { setTimeout as delay } from 'node:timers/promises';
import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { createLog } from '../../platform/log.ts';
import {
  itemRecord,
  itemsKey,
  readProjectItems,
} from '../../platform/project-items/project-items.ts';
import { type Segment, SegmentSchema } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { oracleAnswer } from '../harness/insights/oracle/answer.ts';
import { Tables } from '../harness/insights/oracle/tables.ts';
import { playProject } from '../harness/insights/project/generated-project.ts';
import { Play } from '../harness/insights/project/play.ts';
import { countsOf, lacking } from '../harness/insights/questions/derived/topped-up.ts';
import { difference } from '../harness/insights/questions/difference.ts';
import { ForcedAnswers } from '../harness/insights/questions/forced-answers.ts';
import { QuestionSource } from '../harness/insights/questions/generated-questions.ts';
import { productAnswer } from '../harness/insights/questions/product-answer.ts';
import { type Question, requestOf } from '../harness/insights/questions/question.ts';
import {
  SegmentSource,
  segmentFeatures,
  wantedOfSegments,
} from '../harness/insights/segments/generated-segments.ts';
import { segmentJson } from '../harness/insights/segments/segment.ts';
import { type Stack, startStack } from '../harness/servers/stack.ts';

const count = 150;
const seed = Number(process.env['MILLRACE_ORACLE_SEED'] ?? 1) + 40;
const people = 100;
const shown = 10;

let stack: Stack;
let tables: Tables;
let forced: ForcedAnswers;
let questions: Question[];

beforeAll(async () => {
  stack = await startStack({ env: { MILLRACE_READS_PER_SECOND: '0' } });
  const play = new Play(stack);
  const project = await playProject(play, seed, people);
  const known = await play.known();
  tables = await Tables.create(known);
  const ids = [...known.ids.values()];
  const source = new SegmentSource(seed, project, new QuestionSource(seed, project), ids);
  questions = source.questions(count);
  const named = questions.flatMap(namedBy);
  const segments = named.map((one) =>
    fromJson(SegmentSchema, JSON.parse(JSON.stringify(segmentJson(one))) as JsonValue),
  );
  await keepSegments(segments);
  forced = new ForcedAnswers(stack, new Map(segments.map((segment) => [segment.id, segment])));
});
afterAll(async () => {
  tables?.close();
  await forced?.stop();
  await stack?.stop();
});

function namedBy({ segments = [], notInSegments = [], splitBy = [] }: Question) {
  return [...segments, ...notInSegments, ...splitBy];
}

/** More than the service takes of a project, at once. */
async function keepSegments(segments: readonly Segment[]): Promise<void> {
  const connection = await connectBroker(stack.natsUrl, createLog('silent'));
  const bucket = await openBucket(connection, buckets.projectItems, readProjectItems);
  const items = segments.map((segment, place) => itemRecord(SegmentSchema, segment, place));
  await bucket.create(itemsKey('segments', stack.projectId), { schemaVersion: 1, items });
  await connection.close();
}

describe(`${count} generated questions about segments (seed ${seed})`, () => {
  it('have each form, as filter and split, and each test', () => {
    expect(lacking(countsOf(questions, segmentFeatures), wantedOfSegments)).toEqual([]);
  });

  it('have the same answer from the sent events', async () => {
    const found = await differences(async (question) => {
      const { result, leftOut, completeUntilMs } = await productAnswer(stack, question);
      return difference(await oracleAnswer(tables, question, completeUntilMs), { result, leftOut });
    });
    expect(found).toEqual([]);
  });

  it('have the same answer from each source that does not refuse them', {
    timeout: 600_000,
  }, async () => {
    const found = await differences(async (question) => {
      if (question.asOfMs !== undefined) return undefined;
      const expected = await oracleAnswer(tables, question, forced.untilMs);
      for (const one of forced.namesOf(question, { isAsked: true })) {
        const different = difference(expected, await forced.answer(one, question));
        if (different !== undefined) return `from ${one.name} ${different}`;
      }
      return undefined;
    });
    expect(found).toEqual([]);
    const answered = [...forced.answered].filter(([, number]) => number > 0).map(([name]) => name);
    expect(answered).toEqual(
      expect.arrayContaining([
        ...['events: users', 'profile_days: users', 'profile_days: events a user'],
        ...['profile_listing: first events', 'kept_active_profiles: users'],
      ]),
    );
  });
});

/** A line for each question that `compare` finds different twice, or that fails; two are under way at once. */
async function differences(
  compare: (question: Question) => Promise<string | undefined>,
): Promise<string[]> {
  const found: string[] = [];
  const rest = questions.values();
  const look = (question: Question): Promise<string | undefined> =>
    compare(question).catch((error: unknown) => String(error));
  /** A refusal for lack of memory is no answer: the largest of these need nearly all that one may have. */
  const lookPatiently = async (question: Question): Promise<string | undefined> => {
    for (let tries = 1; ; tries += 1) {
      const line = await look(question);
      if (tries === 4 || !line?.includes('too much memory')) return line;
      await delay(3_000);
    }
  };
  const lane = async (): Promise<void> => {
    for (const question of rest) {
      // Who may still convert changes with the minute.
      const line = (await lookPatiently(question)) && (await lookPatiently(question));
      if (line === undefined) continue;
      const asked = JSON.stringify([requestOf(question), namedBy(question).map(segmentJson)]);
      if (found.length < shown) found.push(`${line}\n${asked}`);
    }
  };
  await Promise.all([lane(), lane()]);
  return found;
}
