// The memory of a process as the kernel counts it, for tests and benches.

import { readFileSync } from 'node:fs';

/** Resident memory in KiB. */
export function memoryKiB(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
