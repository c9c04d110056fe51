// What benches found, kept in bench/results.json from one run to the next: a run replaces what it measured again and
// leaves the rest, so each result says when and where it was taken.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../test/harness/source-tree.ts';
import type { Report } from './bench.ts';
import type { Machine } from './harness/machine.ts';

export interface Result extends Report {
  bench: string;
  question: string;
  seconds: number;
  /** As it was when this bench began. */
  machine: Machine;
}

const file = join(root, 'bench', 'results.json');

/** What the last runs left; none where there were none. */
export function readResults(): Result[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

/** Puts `result` in the place of an earlier one of its bench; what is of no bench in `names` is forgotten. */
export function keepResult(result: Result, names: readonly string[]): void {
  const kept = new Map([...readResults(), result].map((each) => [each.bench, each]));
  const results = names.flatMap((name) => kept.get(name) ?? []);
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
}
