// `npm run bench -- [name …] [--smoke] [--keep]`: runs the named benches, or all, and prints their tables, the goals
// last. `--keep` writes bench/results.json and draws bench/report.html; `npm run bench -- report` only draws.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../test/harness/source-tree.ts';
import { type Bench, type Mode, printTable } from './bench.ts';
import { benches } from './benches.ts';
import { machineFacts } from './harness/machine.ts';
import { createSession } from './harness/processes/session.ts';
import { goalTable } from './read-goals.ts';
import { drawReport } from './report.ts';
import { keepResult, type Result, readResults } from './results.ts';

const { values, positionals } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const names = benches.map(({ name }) => name);
const unknown = positionals.filter((name) => name !== 'report' && !names.includes(name));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

if (unknown.length > 0) {
  process.stderr.write(`bench: there is no ${unknown.join(', ')}: there are ${names.join(', ')}\n`);
  process.exitCode = 1;
} else if (values.keep && values.smoke) {
  process.stderr.write('bench: the figures of a smoke run mean nothing and are not kept\n');
  process.exitCode = 1;
} else if (positionals.includes('report')) {
  printGoals(readResults());
  writeReport(readResults());
} else {
  const mode = values.smoke ? 'smoke' : 'real';
  const found = await runAll(mode);
  if (mode === 'real') printGoals(found);
  if (values.keep) writeReport(readResults());
}

async function runAll(mode: Mode): Promise<Result[]> {
  const results: Result[] = [];
  for (const bench of benches) {
    if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
    say(`${bench.name}: ${bench.question}\n`);
    const result = await runOne(bench, mode);
    for (const table of result.tables) say(`${printTable(table)}\n`);
    say(`result ${result.resultHash.slice(0, 16)}, ${result.seconds} s\n`);
    results.push(result);
    // Kept after each bench: a quarter of an hour of results must not be lost to a failure of the last one.
    if (values.keep) keepResult(result, names);
  }
  return results;
}

async function runOne(bench: Bench, mode: Mode): Promise<Result> {
  const machine = machineFacts();
  const session = createSession();
  const startMs = performance.now();
  try {
    const report = await bench.run(mode, session);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    return { bench: bench.name, question: bench.question, seconds, machine, ...report };
  } finally {
    await session.close();
  }
}

/** The goals of the benches that ran. */
function printGoals(results: readonly Result[]): void {
  const table = goalTable(results);
  if (table.rows.length > 0) say(printTable(table));
}

function writeReport(results: readonly Result[]): void {
  const file = join(root, 'bench', 'report.html');
  writeFileSync(file, drawReport(results));
  say(`\n${file}`);
}
