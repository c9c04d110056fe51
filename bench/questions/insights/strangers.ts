// A customer's simple questions, feed and the probe of readiness while another customer asks the dearest questions from
// sixty projects at once. Quiet and disturbed phases take turns, so that neighbours of the machine slow both alike.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../../platform/json.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode } from '../../bench.ts';
import { type OwnedProject, storeOwners } from '../../harness/engine/stored-owners.ts';
import { post } from '../../harness/insights/ask.ts';
import { lastMonth, queryPath, simpleQuestions } from '../../harness/insights/dearest.ts';
import { median } from '../../harness/pairs.ts';
import { startDearQuestions } from '../../harness/processes/processes.ts';

interface Parameters {
  /** Of the customer who asks dear questions. */
  projects: number;
  /** Of each project. */
  events: number;
  /** Quiet phases, and as many disturbed ones. */
  phases: number;
  /** Rounds of simple calls in a phase. */
  rounds: number;
  /** Dear questions of each project that run or wait at once. */
  atOnce: number;
}

const sizes: Record<Mode, Parameters> = {
  smoke: { projects: 4, events: 1_000, phases: 1, rounds: 1, atOnce: 1 },
  real: { projects: 60, events: 50_000, phases: 3, rounds: 20, atOnce: 2 },
};
/** So many milliseconds pass until the dear questions have begun, and until their last ones have ended. */
const settleMs = 2_000;

export const insightsStrangersBench: Bench = {
  name: 'insights-strangers',
  question: "How much slower are a customer's calls beside the dearest questions of 60 projects?",
  async run(mode, session) {
    const parameters = sizes[mode];
    const stack = await session.stack();
    const { many, single } = await storeOwners(stack, parameters);
    await delay(settleMs);
    const measured = await takeTurns(stack, many, single, parameters);
    return {
      tables: [tableOf(measured)],
      resultHash: createHash('sha256').update('nobody else is refused').digest('hex'),
    };
  },
};

interface Measured {
  /** Milliseconds of the simple calls, by name. */
  quiet: Map<string, number[]>;
  disturbed: Map<string, number[]>;
  /** Answers of the dear questions, by status. */
  dear: Map<string, number>;
}

async function takeTurns(
  { baseUrl }: Stack,
  many: readonly OwnedProject[],
  { privateKey }: OwnedProject,
  { phases, rounds, atOnce }: Parameters,
): Promise<Measured> {
  const measured: Measured = { quiet: new Map(), disturbed: new Map(), dear: new Map() };
  const asked = { baseUrl, privateKeys: many.map((project) => project.privateKey), atOnce };
  let turn = 0;
  const callSimple = async (into: Map<string, number[]>, times: number): Promise<void> => {
    for (let round = 0; round < times; round++) {
      for (const { name, path, body } of simpleCalls(turn++)) {
        const startMs = performance.now();
        const { status, text } = await post(baseUrl, path, { 'x-api-key': privateKey }, body);
        into.set(name, [...(into.get(name) ?? []), performance.now() - startMs]);
        check(status === 200, `${name} is answered, not ${status} ${text.slice(0, 200)}`);
      }
      const ready = await fetch(`${baseUrl}/readyz`);
      check(ready.status === 200, `the service is ready, not ${ready.status}`);
    }
  };
  // Warms up.
  await callSimple(new Map(), 2);
  for (let phase = 0; phase < phases; phase++) {
    await callSimple(measured.quiet, rounds);
    const asking = startDearQuestions(asked);
    await delay(settleMs);
    await callSimple(measured.disturbed, rounds);
    for (const [status, count] of Object.entries(await asking.stop())) {
      measured.dear.set(status, (measured.dear.get(status) ?? 0) + count);
    }
    await delay(settleMs);
  }
  return measured;
}

function simpleCalls(turn: number): { name: string; path: string; body: JsonObject }[] {
  const asked = Object.entries(simpleQuestions).map(([name, question]) => {
    return { name, path: queryPath, body: { ...question, ...lastMonth(turn) } };
  });
  const path = '/shared.activity.v1.ActivityService/List';
  return [...asked, { name: 'the feed', path, body: { pageSize: 50 } }];
}

function tableOf({ quiet, disturbed, dear }: Measured) {
  const answers = [...dear].map(([status, count]) => `${count} with ${status}`).join(', ');
  return {
    title: `p50 milliseconds of one customer's calls, none refused; another's dear questions: ${answers}`,
    columns: ['call', 'quiet ms', 'disturbed ms', 'of quiet', 'slowest ms', 'times asked'],
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
