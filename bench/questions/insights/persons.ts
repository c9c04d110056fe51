// The persons behind numbers of answers over 20 million events: the first page of each list, in turns with the question
// that answers the number, whose past days are kept as in every question that was asked before.

import { createHash } from 'node:crypto';
import { systemClock } from '../../../platform/clock.ts';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Table } from '../../bench.ts';
import { listOf } from '../../harness/insights/answers.ts';
import { askPersons, askQuestion, momentOf } from '../../harness/insights/ask.ts';
import type { Asked, Question } from '../../harness/insights/question.ts';
import { asksOf, questions, untilDaysMayBeKept } from '../../harness/insights/questions.ts';
import { rangeOf, turned } from '../../harness/insights/stored-range.ts';
import { median, ratioOf } from '../../harness/pairs.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { withShop } from '../../harness/shop/stored-shop.ts';

const pageSize = 100;

/** A number of a question's answer. */
interface Numbered {
  /** The name of the question. */
  question: string;
  /** Which of its numbers: the members of a QuestionPoint beside the question. */
  point(asked: Asked): JsonObject;
  /** The number in the answer. */
  valueIn(answer: JsonObject): unknown;
}

const firstBucket = ({ fromMs }: Asked): JsonObject => ({ bucket: momentOf(fromMs) });
const ofTrend = (question: string): Numbered => ({
  ...{ question, point: firstBucket },
  valueIn: (answer) => listOf(listOf(answer, 'trends', 'series')[0] ?? {}, 'points')[0]?.['value'],
});
const stepsOf = (answer: JsonObject): unknown[] =>
  listOf(listOf(answer, 'funnel', 'series')[0] ?? {}, 'steps').map(({ total }) => total);
const ofFunnel = (question: string): Numbered => ({
  question,
  point: () => ({ step: 2, droppedOff: true }),
  valueIn: (answer) => Number(stepsOf(answer)[1]) - Number(stepsOf(answer)[2]),
});
const ofRetention = (question: string): Numbered => ({
  question,
  point: (asked) => ({ ...firstBucket(asked), returned: momentOf(asked.fromMs) }),
  valueIn: (answer) => {
    const [series = {}] = listOf(answer, 'retention', 'series');
    return listOf(listOf(series, 'cohorts')[0] ?? {}, 'points')[0]?.['value'];
  },
});
const ofLifecycle = (question: string): Numbered => ({
  question,
  point: (asked) => ({ ...firstBucket(asked), state: 'LIFECYCLE_STATE_RETURNING' }),
  valueIn: (answer) => listOf(answer, 'lifecycle', 'returningUsers')[0]?.['value'],
});
const ofStickiness = (question: string): Numbered => ({
  question,
  point: () => ({ activeBuckets: 2 }),
  valueIn: (answer) => listOf(answer, 'stickiness', 'points')[1]?.['value'],
});

const numbers: readonly Numbered[] = [
  ofTrend('unique users of one kind'),
  ofTrend('unique users of all kinds'),
  ofFunnel('funnel of 3 steps'),
  ofFunnel('funnel of 3 steps in any order'),
  ofFunnel('funnel of 3 steps in one visit'),
  ofRetention('weekly retention, 8 weeks'),
  ofRetention('weekly retention of one kind'),
  ofLifecycle('lifecycle'),
  ofLifecycle('lifecycle of one kind'),
  ofStickiness('stickiness'),
  ofStickiness('stickiness of one kind'),
];

interface Measured {
  name: string;
  value: number;
  ms: { list: number[]; question: number[] };
}

export const insightsPersonsBench: Bench = {
  name: 'insights-persons',
  question: 'How soon are the persons behind a number listed, beside the question that answers it?',
  async run(mode, session) {
    const shop = shopOf(mode, systemClock.nowMs());
    return withShop(shop, mode, session, async (stack) => {
      const measured: Measured[] = [];
      for (const number of numbers) {
        const question = questions.find(({ name }) => name === number.question);
        check(question !== undefined, `${number.question} is a question`);
        if (question) measured.push(await measure(stack, number, question, shop.endMs, mode));
      }
      const values = measured.map(({ name, value }) => [name, value]);
      const hash = createHash('sha256').update(JSON.stringify(values));
      return { tables: [tableOf(measured)], resultHash: hash.digest('hex') };
    });
  },
};

async function measure(
  stack: Stack,
  number: Numbered,
  question: Question,
  endMs: number,
  mode: Mode,
): Promise<Measured> {
  const { warmUps, counted } = asksOf[mode];
  const range = await rangeOf(stack, question.days, endMs);
  const ms: Measured['ms'] = { list: [], question: [] };
  let value = 0;
  for (let turn = 0; turn < warmUps + counted; turn++) {
    const asked = turned(range, turn);
    const beforeMs = performance.now();
    const [answer] = await askQuestion(stack, question, asked);
    const answeredMs = performance.now();
    const point = number.point(asked);
    const page = await askPersons(stack, question, asked, { point, pageSize });
    const listedMs = performance.now();
    value = isObject(answer) ? Number(number.valueIn(answer) ?? 0) : Number.NaN;
    const listed = Array.isArray(page['distinctIds']) ? page['distinctIds'].length : 0;
    check(listed === Math.min(value, pageSize), `${question.name}: ${listed} of ${value} persons`);
    if (turn === 0) await untilDaysMayBeKept(mode);
    if (turn < warmUps) continue;
    ms.question.push(answeredMs - beforeMs);
    ms.list.push(listedMs - answeredMs);
  }
  return { name: question.name, value, ms };
}

function tableOf(measured: readonly Measured[]): Table {
  return {
    title:
      'The first hundred persons behind a number, with their profiles; ratios are medians of the pairs',
    columns: ['a number of', 'persons', 'list p50 ms', 'question p50 ms', 'of its question'],
    rows: measured.map(({ name, value, ms }) => [
      ...[name, String(value), median(ms.list).toFixed(1), median(ms.question).toFixed(1)],
      ratioOf(ms.list, ms.question).toFixed(2),
    ]),
  };
}
