// A small project's questions while another project asks heavy ones without a pause. Quiet and disturbed phases take
// turns, so that neighbours of the machine slow both alike, and the ratio holds on a busy machine too.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../platform/clock.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import type { Bench, Mode } from '../../bench.ts';
import { storePeople } from '../../harness/engine/stored-people.ts';
import { askQuestion } from '../../harness/insights/ask.ts';
import type { Question } from '../../harness/insights/question.ts';
import { questions } from '../../harness/insights/questions.ts';
import { rangeOf, turned } from '../../harness/insights/stored-range.ts';
import { median } from '../../harness/pairs.ts';
import { onShopCopy } from '../../harness/shop/shop-copy.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';

interface Parameters {
  /** Of the small project. */
  events: number;
  /** Quiet phases, and as many disturbed ones. */
  phases: number;
  /** Small questions of each kind in a phase. */
  each: number;
  /** Questions of the heavy project that run or wait at once. */
  heavyLoops: number;
}

const sizes: Record<Mode, Parameters> = {
  smoke: { events: 1_000, phases: 1, each: 1, heavyLoops: 2 },
  real: { events: 50_000, phases: 5, each: 4, heavyLoops: 4 },
};
const smallNames = ['trend of one kind', 'unique users of all kinds', 'funnel of 3 steps'];
const heavyNames = ['funnel of 3 steps', 'by a custom property', 'weekly retention of one kind'];
/** So many milliseconds pass until the heavy questions have begun, and until their last ones have ended. */
const settleMs = 1_000;

export const insightsFairnessBench: Bench = {
  name: 'insights-fairness',
  question: "How much slower are a small project's questions beside another's heavy ones?",
  async run(mode, session) {
    const shop = shopOf(mode, systemClock.nowMs());
    return onShopCopy(shop, mode, session, async (stack) => {
      const parameters = sizes[mode];
      const { events } = parameters;
      const people = { events, profiles: Math.ceil(events / 50), merges: 10 };
      const { without: small } = await storePeople(stack, people);
      const neighbour = { baseUrl: stack.baseUrl, privateKey: small.privateKey };
      const measured = await takeTurns(stack, neighbour, shop.endMs, parameters);
      return {
        tables: [tableOf(measured)],
        resultHash: createHash('sha256').update(smallNames.join()).digest('hex'),
      };
    });
  },
};

type Neighbour = Pick<Stack, 'baseUrl' | 'privateKey'>;

interface Measured {
  /** Milliseconds of the small questions, by name. */
  quiet: Map<string, number[]>;
  disturbed: Map<string, number[]>;
  heavyAnswers: number;
  disturbedMs: number;
}

async function takeTurns(
  stack: Stack,
  neighbour: Neighbour,
  endMs: number,
  { phases, each, heavyLoops }: Parameters,
): Promise<Measured> {
  const measured = { quiet: new Map(), disturbed: new Map(), heavyAnswers: 0, disturbedMs: 0 };
  let turn = 0;
  const ask = async (asker: Neighbour, question: Question): Promise<void> => {
    const asked = await rangeOf(stack, question.days, endMs);
    await askQuestion(asker, question, turned(asked, turn++));
  };
  const askSmall = async (into: Map<string, number[]>): Promise<void> => {
    for (let round = 0; round < each; round++) {
      for (const question of named(smallNames)) {
        const startMs = performance.now();
        await ask(neighbour, question);
        const ms = performance.now() - startMs;
        into.set(question.name, [...(into.get(question.name) ?? []), ms]);
      }
    }
  };
  // Warms up.
  await askSmall(new Map());
  for (let phase = 0; phase < phases; phase++) {
    await askSmall(measured.quiet);
    let isOver = false;
    const loops = Array.from({ length: heavyLoops }, async (_, loop) => {
      for (let next = loop; !isOver; next++) {
        const heavy = named(heavyNames);
        const question = heavy[next % heavy.length];
        if (question === undefined) throw new RangeError('no heavy questions');
        // On a busy machine some take longer than a question may: they have kept the engine busy all the same.
        await ask(stack, question).then(
          () => measured.heavyAnswers++,
          () => {},
        );
      }
    });
    await delay(settleMs);
    const startMs = performance.now();
    await askSmall(measured.disturbed);
    isOver = true;
    measured.disturbedMs += performance.now() - startMs;
    await Promise.all(loops);
    await delay(settleMs);
  }
  return measured;
}

function named(names: readonly string[]): Question[] {
  return names.map((name) => {
    const question = questions.find((one) => one.name.startsWith(name));
    if (question === undefined) throw new Error(`no question ${name}`);
    return question;
  });
}

function tableOf({ quiet, disturbed, heavyAnswers, disturbedMs }: Measured) {
  const heavyRate = (1_000 * heavyAnswers) / disturbedMs;
  return {
    title: `p50 milliseconds of a small project's questions; meanwhile ${heavyRate.toFixed(1)} heavy answers a second`,
    columns: ['question', 'quiet ms', 'disturbed ms', 'of quiet', 'slowest ms', 'times asked'],
    rows: [...quiet].map(([name, before]) => {
      const during = disturbed.get(name) ?? [];
      return [
        name,
        ...[median(before).toFixed(1), median(during).toFixed(1)],
        (median(during) / median(before)).toFixed(2),
        ...[Math.max(...during).toFixed(1), String(during.length)],
      ];
    }),
  };
}
