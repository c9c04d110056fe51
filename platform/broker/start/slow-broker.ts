// Steps of a start that ask the broker: on a slow machine, or with a busy disk, it may answer long after the time that
// a request has, and in a cluster a stream may have no leader yet. Such a step is tried again, and a step that fails
// for good is named.

import type { Log } from '../../log.ts';
import { retry } from '../../retry.ts';
import { NoLeaderError } from '../cluster/leader-info.ts';
import { isLate } from '../nats.ts';

const patienceMs = 60_000;

/**
 * Calls `step` again where the broker has not answered it in time, or a stream has no leader, for a minute unless
 * given. `step` must be safe to repeat. `what` goes on from "while", such as "streams are made". Throws one sentence
 * with it after that time, or that there is no leader, and any other error of the step at once.
 */
export async function despiteSlowBroker<T>(
  what: string,
  step: () => Promise<T>,
  options: { log?: Log; patienceMs?: number } = {},
): Promise<T> {
  const limitMs = options.patienceMs ?? patienceMs;
  let last: unknown;
  try {
    return await retry(step, {
      signal: AbortSignal.timeout(limitMs),
      baseMs: 250,
      capMs: 2_000,
      onFailure: ({ error, attempt }) => {
        if (!isLate(error) && !(error instanceof NoLeaderError)) throw error;
        last = error;
        options.log?.warn({ attempt }, `the broker is slow while ${what}`);
      },
    });
  } catch (error) {
    if (!isOver(error)) throw error;
    if (last instanceof NoLeaderError) throw last;
    throw new Error(lateSentence(what, limitMs / 1_000), { cause: error });
  }
}

/** `work`; where the broker does not answer it in time, it rejects with one sentence that names it as above. */
export async function namingSlowBroker<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isLate(error)) throw error;
    throw new Error(lateSentence(what), { cause: error });
  }
}

function lateSentence(what: string, seconds?: number): string {
  const time = seconds === undefined ? 'in time' : `within ${seconds} s`;
  return `the broker does not answer ${time} while ${what}: is its machine or its disk too busy?`;
}

/** The reason of AbortSignal.timeout. */
function isOver(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
