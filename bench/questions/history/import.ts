// The history of another product: how fast is it imported beside JSON.parse of its lines, how fast is it found to be
// stored already, and what do events of now notice of it in the same project?

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../../test/harness/remove-folder.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { root } from '../../../test/harness/source-tree.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import { queryableP99, rowsOf } from '../../harness/load/neighbour.ts';
import { imported, writeExport } from '../../harness/load/posthog-export.ts';
import { queryNumber, watchRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';

interface Parameters {
  events: number;
  runs: number;
  pairs: number;
  liveMs: number;
  /** Of the import beside which events of now are timed: it must go on until they all were. */
  besideEvents: number;
  leadMs: number;
}

const smoke: Parameters = {
  ...{ events: 500, runs: 1, pairs: 1, liveMs: 300, besideEvents: 2_000, leadMs: 0 },
};
const real: Parameters = {
  ...{ events: 500_000, runs: 3, pairs: 3, liveMs: 10_000, besideEvents: 1_600_000, leadMs: 5_000 },
};

const dryRun = 'dry run: read, mapped, checked';
const pollMs = 100;
const drainTimeoutMs = 600_000;

export const importBench: Bench = {
  name: 'import',
  question: 'How fast is history imported, and what do events of now notice of it?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-import-'));
    try {
      const rates: Rate[] = [];
      for (let run = 0; run < parameters.runs; run++) {
        rates.push(await importTwice(stack, directory, parameters.events));
      }
      const pairs: Pair[] = [];
      for (let pair = 0; pair < parameters.pairs; pair++) {
        pairs.push(await besideImport(stack, session, directory, parameters));
      }
      return {
        tables: [rateTable(rates, parameters.events), besideTable(pairs)],
        resultHash: createHash('sha256').update('each event is stored once').digest('hex'),
      };
    } finally {
      await removeFolder(directory);
    }
  },
};

/** CPU in microseconds an event, the rest in events a second. */
interface Rate {
  parse: number;
  parseCpu: number;
  dryCpu: number;
  firstCpu: number;
  againCpu: number;
  dry: number;
  first: number;
  queryable: number;
  again: number;
}

async function importTwice(stack: Stack, directory: string, events: number): Promise<Rate> {
  const path = await writeExport(directory, events);
  const parsed = parseAll(path, events);
  const dry = await runImport(stack, path, 'nothing was sent', ['--dry-run']);
  const rows = importedRows(stack);
  const before = await queryNumber(stack, rows);
  const startMs = performance.now();
  const first = await runImport(stack, path, `${events.toLocaleString('en-US')} sent`);
  const watch = watchRows(stack, pollMs, rows);
  await watch.until(before + events, drainTimeoutMs);
  await watch.stop();
  const queryableMs = performance.now() - startMs;
  const again = await runImport(stack, path, '\n0 sent');
  check((await queryNumber(stack, rows)) === before + events, 'each event is stored once');
  const rate = (ms: number): number => (1_000 * events) / ms;
  const cpu = (run: Timed): number => run.cpuUs / events;
  return {
    ...{ parse: rate(parsed.ms), dry: rate(dry.ms), first: rate(first.ms), again: rate(again.ms) },
    ...{ parseCpu: cpu(parsed), dryCpu: cpu(dry), firstCpu: cpu(first), againCpu: cpu(again) },
    queryable: rate(queryableMs),
  };
}

interface Timed {
  ms: number;
  cpuUs: number;
}

function importedRows(stack: Stack): string {
  return `${rowsOf(stack.projectId)} AND kind = '${imported}'`;
}

/** Of texts that are in memory already. */
function parseAll(path: string, events: number): Timed {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  let parsed = 0;
  for (const line of lines) if (JSON.parse(line) !== null) parsed++;
  const { user, system } = process.cpuUsage(startCpu);
  const ms = performance.now() - startMs;
  check(parsed === events, 'every line is JSON');
  return { ms, cpuUs: user + system };
}

/** What the command takes, its start included; it must say `sentence`. */
async function runImport(
  stack: Stack,
  path: string,
  sentence: string,
  options: readonly string[] = [],
): Promise<Timed> {
  const startMs = performance.now();
  const out = await startImport(stack, path, options).done;
  const ms = performance.now() - startMs;
  check(out.includes(sentence), `the import says${sentence}: ${out}`);
  const [, cpuUs] = /^cpu us (\d+)$/m.exec(out) ?? [];
  return { ms, cpuUs: Number(cpuUs) };
}

/** Of a process, at its end: nobody can ask for it afterwards. */
const tellCpu = `data:text/javascript,process.on('exit',()=>{
  const { user, system } = process.cpuUsage(); process.stderr.write('\\ncpu us ' + (user + system) + '\\n');
})`;

function startImport(
  { baseUrl, privateKey }: Stack,
  path: string,
  options: readonly string[] = [],
) {
  const args = ['posthog', path, '--url', baseUrl, '--private-key', privateKey, ...options];
  const command = join(root, 'dist/history/import.js');
  const child = spawn(process.execPath, ['--import', tellCpu, command, ...args]);
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      out += chunk;
    });
  }
  const done = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(out));
  });
  return { child, done };
}

interface Pair {
  quietMs: number;
  besideMs: number;
  importedPerSecond: number;
}

async function besideImport(
  stack: Stack,
  session: Session,
  directory: string,
  { liveMs, besideEvents, leadMs }: Parameters,
): Promise<Pair> {
  const live = `${rowsOf(stack.projectId)} AND kind != '${imported}'`;
  const quietMs = await queryableP99(stack, session, liveMs, live);
  const path = await writeExport(directory, besideEvents);
  const rows = importedRows(stack);
  const { child, done } = startImport(stack, path);
  try {
    await new Promise((resolve) => setTimeout(resolve, leadMs));
    const [startMs, before] = [performance.now(), await queryNumber(stack, rows)];
    const besideMs = await queryableP99(stack, session, liveMs, live);
    const elapsedMs = performance.now() - startMs;
    check(leadMs === 0 || child.exitCode === null, 'the import goes on until all are timed');
    const stored = (await queryNumber(stack, rows)) - before;
    return { quietMs, besideMs, importedPerSecond: (1_000 * stored) / elapsedMs };
  } finally {
    child.kill('SIGKILL');
    await done;
    rmSync(path, { force: true });
  }
}

function rateTable(rates: readonly Rate[], events: number): Table {
  const of = (value: (rate: Rate) => number): number => median(rates.map(value));
  const row = (
    run: string,
    value: (rate: Rate) => number,
    cpu?: (rate: Rate) => number,
  ): string[] => [
    run,
    of(value).toFixed(0),
    of(({ parse }) => parse).toFixed(0),
    of((rate) => value(rate) / rate.parse).toFixed(2),
    cpu === undefined ? '' : of(cpu).toFixed(1),
    of(({ parseCpu }) => parseCpu).toFixed(1),
    cpu === undefined ? '' : of((rate) => rate.parseCpu / cpu(rate)).toFixed(2),
  ];
  return {
    title: `${events} events of PostHog's export as JSON lines, medians of ${rates.length} runs; CPU in us of the command`,
    columns: [
      ...['run', 'events/s', 'parsed lines/s', 'of parse'],
      ...['CPU', 'CPU of parse', 'CPU ratio'],
    ],
    rows: [
      row(
        dryRun,
        ({ dry }) => dry,
        ({ dryCpu }) => dryCpu,
      ),
      row(
        'first',
        ({ first }) => first,
        ({ firstCpu }) => firstCpu,
      ),
      row('until queryable', ({ queryable }) => queryable),
      row(
        'again, all stored',
        ({ again }) => again,
        ({ againCpu }) => againCpu,
      ),
    ],
  };
}

function besideTable(pairs: readonly Pair[]): Table {
  const of = (value: (pair: Pair) => number): number => median(pairs.map(value));
  return {
    title: `50 requests/s of one event beside an import of the same project, medians of ${pairs.length} pairs`,
    columns: ['quiet p99 ms', 'p99 ms', 'p99 ratio', 'imported/s'],
    rows: [
      [
        of(({ quietMs }) => quietMs).toFixed(0),
        of(({ besideMs }) => besideMs).toFixed(0),
        of(({ quietMs, besideMs }) => besideMs / quietMs).toFixed(2),
        of(({ importedPerSecond }) => importedPerSecond).toFixed(0),
      ],
    ],
  };
}
