// One customer's dearest questions, from many projects at once, until the process ends. It runs at the lowest priority:
// whoever attacks brings machines of its own, and the two cores of a bench are the service's and the measured caller's.

import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { check } from '../../bench.ts';
import { post } from '../insights/ask.ts';
import { dearestQuestions, lastMonth, queryPath } from '../insights/dearest.ts';

export interface DearQuestions {
  baseUrl: string;
  /** One of each project. */
  privateKeys: readonly string[];
  /** Questions of each project that run or wait at once. */
  atOnce: number;
}

/** Whoever is refused asks again after so long, whatever the answer says. */
const refusedMs = 1_000;

/** Never resolves. Each line of `orders` is answered by the number of answers of each status until then. */
export async function askDearQuestions(
  { baseUrl, privateKeys, atOnce }: DearQuestions,
  orders: Readable,
  answers: Writable,
): Promise<never> {
  setPriority(constants.priority.PRIORITY_LOW);
  const questions = Object.values(dearestQuestions);
  const statuses: Record<string, number> = {};
  let turn = 0;
  const ask = async (privateKey: string, first: number): Promise<never> => {
    for (let number = first; ; number++) {
      const body = { ...questions[number % questions.length], ...lastMonth(turn++) };
      const { status, text } = await post(baseUrl, queryPath, { 'x-api-key': privateKey }, body);
      check(status !== 400, `a dear question is a question: ${text.slice(0, 200)}`);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== 200) await delay(refusedMs);
    }
  };
  createInterface({ input: orders }).on('line', () => {
    answers.write(`${JSON.stringify(statuses)}\n`);
  });
  const loops = privateKeys.flatMap((key, place) =>
    Array.from({ length: atOnce }, (_, loop) => ask(key, place + loop)),
  );
  return Promise.race(loops);
}
