// CPU and memory of processes as the kernel counts them: CPU over a stretch of time, and the most memory they hold
// together.

import { readdirSync, readFileSync } from 'node:fs';
import { memoryKiB } from '../../test/harness/servers/process-memory.ts';
import type { Part, Stack } from '../../test/harness/servers/stack.ts';

// USER_HZ: the kernel's unit of CPU time in /proc, 10 ms on every Linux that Node runs on.
const tickMs = 10;

/** CPU milliseconds that the process has used since it began, in steps of 10 ms. */
export function cpuMsOf(pid: number): number {
  return readStat(`/proc/${pid}/stat`).cpuMs;
}

/** CPU milliseconds of an engine's threads that merge parts; they live as long as the engine. */
export function mergeCpuMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => statOfThread(pid, id));
  const merging = threads.filter(({ command }) => command === 'MergeMutate');
  return merging.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** CPU milliseconds that the engine has used since it began, but for its merges. */
export function cpuMsWithoutMerges(pid: number): number {
  return cpuMsOf(pid) - mergeCpuMsOf(pid);
}

/**
 * CPU milliseconds of an engine's threads but for merges, in steps of a nanosecond where the kernel counts them; what
 * ended threads used is not in it, and an engine ends hardly any.
 */
export function threadCpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`);
  return threads.reduce((sum, thread) => sum + schedCpuMs(thread), 0);
}

function schedCpuMs(thread: string): number {
  try {
    if (readFileSync(`${thread}/comm`, 'utf8').trim() === 'MergeMutate') return 0;
    return Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0]) / 1_000_000;
  } catch {
    return 0;
  }
}

interface Stat {
  command: string;
  cpuMs: number;
}

/** Zero CPU and no name where the thread has just ended. */
function statOfThread(pid: number, id: string): Stat {
  try {
    return readStat(`/proc/${pid}/task/${id}/stat`);
  } catch {
    return { command: '', cpuMs: 0 };
  }
}

function readStat(path: string): Stat {
  const stat = readFileSync(path, 'utf8');
  // The second field is the command in brackets, which may hold spaces and brackets.
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  return {
    command: stat.slice(stat.indexOf('(') + 1, end),
    cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs,
  };
}

/** Bytes of memory that the process holds at this moment. */
function residentBytesOf(pid: number): number {
  return memoryKiB(pid) * 1_024;
}

export const parts: readonly Part[] = ['service', 'broker', 'engine'];

/** CPU milliseconds of each part so far; subtract two of them. */
export function cpuOfParts(stack: Stack): Record<Part, number> {
  const pids = stack.pids();
  return {
    service: ofService(stack, cpuMsOf),
    broker: cpuMsOf(pids.broker),
    engine: cpuMsOf(pids.engine),
  };
}

/** Bytes of memory each part holds at this moment; pages that processes share are counted in each. */
export function memoryOfParts(stack: Stack): Record<Part, number> {
  const pids = stack.pids();
  return {
    service: ofService(stack, residentBytesOf),
    broker: residentBytesOf(pids.broker),
    engine: residentBytesOf(pids.engine),
  };
}

/** The sum over the service's process and the further processes that serve requests. */
function ofService(stack: Stack, use: (pid: number) => number): number {
  return [stack.pids().service, ...stack.ingestPids()].reduce((sum, pid) => sum + use(pid), 0);
}

interface MemoryWatch {
  /** Bytes of each part at the moment of the highest sum. */
  peak(): Record<Part, number>;
  stop(): void;
}

const everyMs = 200;

export function watchMemory(stack: Stack): MemoryWatch {
  let peak: Record<Part, number> = { service: 0, broker: 0, engine: 0 };
  const sample = (): void => {
    // A part that is being started again has no process for a moment.
    if (parts.some((part) => stack.pids()[part] === 0)) return;
    const now = memoryOfParts(stack);
    if (sumOf(now) > sumOf(peak)) peak = now;
  };
  sample();
  const timer = setInterval(sample, everyMs);
  return { peak: () => peak, stop: () => clearInterval(timer) };
}

/** What `run` returns, and the most MiB that all parts held together meanwhile. */
export async function withHighestMiB<Result>(
  stack: Stack,
  run: () => Promise<Result>,
): Promise<[result: Result, highestMiB: number]> {
  const memory = watchMemory(stack);
  try {
    const result = await run();
    return [result, sumOf(memory.peak()) / 1_048_576];
  } finally {
    memory.stop();
  }
}

export function sumOf(values: Record<Part, number>): number {
  return parts.reduce((sum, part) => sum + values[part], 0);
}
