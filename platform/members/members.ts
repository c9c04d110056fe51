// Starts several processes, the members, that serve one port together. A member that dies is started again, and none
// outlives this process: node:cluster ends a member whose channel closes. The members' own side is member.ts.

import cluster, { type Worker } from 'node:cluster';
import type { Log } from '../log.ts';
import { type Answers, ProcessLink } from './process-link.ts';

interface MembersOptions {
  count: number;
  /** The script of each member, its arguments, and the additions to our environment. */
  script: string;
  args: string[];
  env: Readonly<Record<string, string>>;
  /** Answers to the members' questions. Each member also asks `serving` once, when it takes connections. */
  answers: Answers;
  log: Log;
}

interface Members {
  /** The answers of the members that answer, each with the member's place, from 1. */
  ask(question: string, about?: unknown): Promise<{ place: number; answer: unknown }[]>;
  /** Sends SIGTERM to all members, and SIGKILL after `graceMs` to those still running. */
  stop(graceMs: number): Promise<void>;
}

interface Member {
  worker: Worker;
  link: ProcessLink;
}

const restartDelayMs = 250;
const maxRestartDelayMs = 5_000;

/** Resolves when all members take connections. Throws where one of them ends before. */
export async function startMembers(options: MembersOptions): Promise<Members> {
  const { count, script: exec, args, log } = options;
  // All members accept on one socket, and a busy one accepts less. If this process accepted for them, a connection on
  // its way to a dying member would never be answered, and its client would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // Only this process writes on standard output.
  cluster.setupPrimary({ exec, args, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const members = new Map<number, Member>();
  let isStopping = false;
  let hasBegun = false;

  /** Resolves when the member takes connections, or rejects when it ends before. */
  function start(place: number, delayMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let nextDelayMs = Math.min(delayMs * 2, maxRestartDelayMs);
      const hasEnded = (how: string): void => {
        members.delete(place);
        reject(new Error(`ingest process ${place} ended with ${how}`));
        if (isStopping || !hasBegun) return;
        log.error({ place, how }, 'an ingest process died, starting it again');
        setTimeout(() => {
          if (!isStopping) start(place, nextDelayMs).catch(() => {});
        }, delayMs);
      };
      const worker = forked(options.env);
      if (worker instanceof Error) return hasEnded(worker.message);
      const link = new ProcessLink(worker.process, {
        ...options.answers,
        serving: () => {
          nextDelayMs = restartDelayMs;
          resolve();
        },
      });
      members.set(place, { worker, link });
      worker.once('exit', (code, signal) => hasEnded(signal ?? `code ${code}`));
      // A process that could not be started never says `exit`.
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) hasEnded(error.message);
      });
    });
  }

  async function stop(graceMs: number): Promise<void> {
    isStopping = true;
    await Promise.all([...members.values()].map(({ worker }) => end(worker, graceMs)));
  }

  const places = Array.from({ length: count }, (_, index) => index + 1);
  try {
    await Promise.all(places.map((place) => start(place, restartDelayMs)));
    hasBegun = true;
  } catch (error) {
    await stop(0);
    throw error;
  }
  return {
    stop,
    async ask(question, about) {
      const asked = [...members].map(async ([place, { link }]) => {
        return { place, answer: await link.ask(question, about) };
      });
      return (await Promise.all(asked)).filter(({ answer }) => answer !== undefined);
    },
  };
}

/** Node says of some causes, such as a machine without memory for a process, by throwing; they may pass. */
function forked(env: MembersOptions['env']): Worker | Error {
  try {
    return cluster.fork(env);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Sends SIGTERM, and SIGKILL after `graceMs`; resolves at the member's end. */
async function end(worker: Worker, graceMs: number): Promise<void> {
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  worker.process.kill('SIGTERM');
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), graceMs);
  await ended;
  clearTimeout(timer);
}
