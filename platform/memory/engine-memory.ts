// How much memory the embedded engine may take where nobody says it: a part of what this process may use. The engine
// divides it: sql/engine/engine-arguments.ts.

const MiB = 1_048_576;
/** What the engine needs beside its merges and inserts, which take most of it. */
export const leastEngineMemoryMiB = 768;

/**
 * A quarter of the machine's memory, or of the bound that a container sets, and at least 768 MiB. `constrainedBytes` is
 * process.constrainedMemory(): absent, 0 or beyond the machine's memory where nothing is set.
 */
export function defaultEngineMemoryMiB(
  machineBytes: number,
  constrainedBytes: number | undefined,
): number {
  const isConstrained = constrainedBytes !== undefined && constrainedBytes > 0;
  const bytes = isConstrained ? Math.min(machineBytes, constrainedBytes) : machineBytes;
  return Math.max(leastEngineMemoryMiB, Math.floor(bytes / 4 / MiB));
}
