// Others' requests while somebody attacks the memory of the port: how long theirs take, and how much the service grows.
// The attack runs at the lowest priority, since real attackers bring machines of their own.

import { createHash } from 'node:crypto';
import { type Attack, attacks } from '../../../test/harness/requests/exhaustion.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session } from '../../bench.ts';
import type { LoadResult } from '../../harness/load/load.ts';
import { median } from '../../harness/pairs.ts';
import { runLoadProcess, startAttackProcess } from '../../harness/processes/processes.ts';
import { memoryOfParts } from '../../harness/usage.ts';

interface Parameters {
  pairs: number;
  warmUpMs: number;
  durationMs: number;
  /** The share of an attack's requests. */
  share: number;
}

const smoke: Parameters = { pairs: 1, warmUpMs: 0, durationMs: 300, share: 0.01 };
const real: Parameters = { pairs: 3, warmUpMs: 1_000, durationMs: 8_000, share: 1 };

const seed = 13;
// As many as a small site has; the service is far from busy.
const connections = 8;
const requestsPerSecond = 100;
const sampleMs = 50;

export const exposedBench: Bench = {
  name: 'exposed',
  question: 'What do others notice while somebody attacks the memory of the port?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const rows: string[][] = [];
    // Each takes seconds, however small its share.
    for (const attack of mode === 'smoke' ? attacks.slice(0, 1) : attacks) {
      const pairs: Pair[] = [];
      for (let pair = 0; pair < parameters.pairs; pair++) {
        const quiet = await load(stack, session, parameters);
        pairs.push({ quiet, ...(await loadUnder(attack, stack, session, parameters)) });
      }
      rows.push(rowOf(attack, pairs));
    }
    return {
      tables: [
        {
          title: `${requestsPerSecond} requests/s of another key, medians of ${parameters.pairs} pairs`,
          columns: ['attack', 'quiet p99 ms', 'p99 ms', 'ratio', 'MiB more'],
          rows,
        },
      ],
      resultHash: createHash('sha256').update('nobody else is refused').digest('hex'),
    };
  },
};

interface Attacked {
  attacked: LoadResult;
  /** The service's highest memory beyond that before the attack. */
  grownMiB: number;
}

interface Pair extends Attacked {
  quiet: LoadResult;
}

async function load(stack: Stack, session: Session, parameters: Parameters): Promise<LoadResult> {
  const { warmUpMs, durationMs } = parameters;
  const result = await runLoadProcess({
    ...{ baseUrl: stack.baseUrl, key: stack.privateKey, size: 'medium', batch: 1, seed },
    ...{ bodiesPerConnection: 64, load: session.nextLoad() },
    ...{ connections, warmUpMs, durationMs, requestsPerSecond, traced: false },
  });
  check(result.requests > 0, 'requests are answered');
  check(Object.keys(result.refused).length === 0, 'nobody else is refused');
  return result;
}

/** The attack begins anew as long as the load goes on. */
async function loadUnder(
  attack: Attack,
  stack: Stack,
  session: Session,
  parameters: Parameters,
): Promise<Attacked> {
  const before = memoryOfParts(stack).service;
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, memoryOfParts(stack).service);
  }, sampleMs);
  const attacking = await startAttackProcess(attack.name, stack, parameters.share);
  try {
    const attacked = await load(stack, session, parameters);
    return { attacked, grownMiB: (highest - before) / 1_048_576 };
  } finally {
    await attacking.stop();
    clearInterval(watch);
  }
}

function rowOf(attack: Attack, pairs: readonly Pair[]): string[] {
  return [
    attack.name,
    median(pairs.map(({ quiet }) => quiet.p99Ms)).toFixed(1),
    median(pairs.map(({ attacked }) => attacked.p99Ms)).toFixed(1),
    median(pairs.map(({ quiet, attacked }) => attacked.p99Ms / quiet.p99Ms)).toFixed(2),
    Math.max(...pairs.map(({ grownMiB }) => grownMiB)).toFixed(0),
  ];
}
