// The kept results in bench/results.json: a run replaces the results of its benches and leaves the others, so each
// result has its own date and machine.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../test/harness/source-tree.ts';
import type { Report } from './bench.ts';
import type { Machine } from './harness/machine.ts';

export interface Result extends Report {
  bench: string;
  question: string;
  seconds: number;
  /** The machine as it was when this bench began. */
  machine: Machine;
}

const file = join(root, 'bench', 'results.json');

/** The results that earlier runs kept; empty without the file. */
export function readResults(): Result[] {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

/** Replaces the earlier result of the same bench; results of benches that are not in `names` are dropped. */
export function keepResult(result: Result, names: readonly string[]): void {
  const kept = new Map([...readResults(), result].map((each) => [each.bench, each]));
  const results = names.flatMap((name) => kept.get(name) ?? []);
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`);
}
