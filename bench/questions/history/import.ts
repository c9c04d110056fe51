// The history of another product: how fast is it imported beside JSON.parse of its lines, how fast is it found to be
// stored already, and what do events of now notice of it in the same project?

import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { root } from '../../../test/harness/source-tree.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import { queryableP99, rowsOf } from '../../harness/load/neighbour.ts';
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
  ...{ events: 300_000, runs: 3, pairs: 3, liveMs: 10_000, besideEvents: 1_500_000, leadMs: 5_000 },
};

const imported = 'imported';
const pollMs = 100;
const drainTimeoutMs = 600_000;
const days = 360;

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
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

interface Rate {
  parse: number;
  dry: number;
  first: number;
  queryable: number;
  again: number;
}

async function importTwice(stack: Stack, directory: string, events: number): Promise<Rate> {
  const path = await writeExport(directory, events);
  const parse = parseRate(path, events);
  const dryMs = await runImport(stack, path, 'nothing was sent', ['--dry-run']);
  const rows = importedRows(stack);
  const before = await queryNumber(stack, rows);
  const startMs = performance.now();
  const firstMs = await runImport(stack, path, `${events.toLocaleString('en-US')} sent`);
  const watch = watchRows(stack, pollMs, rows);
  await watch.until(before + events, drainTimeoutMs);
  await watch.stop();
  const queryableMs = performance.now() - startMs;
  const againMs = await runImport(stack, path, '\n0 sent');
  check((await queryNumber(stack, rows)) === before + events, 'each event is stored once');
  const rate = (ms: number): number => (1_000 * events) / ms;
  return {
    ...{
      parse,
      dry: rate(dryMs),
      first: rate(firstMs),
      queryable: rate(queryableMs),
      again: rate(againMs),
    },
  };
}

function importedRows(stack: Stack): string {
  return `${rowsOf(stack.projectId)} AND kind = '${imported}'`;
}

/** Lines a second, of texts that are in memory already. */
function parseRate(path: string, events: number): number {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  const startMs = performance.now();
  let parsed = 0;
  for (const line of lines) if (JSON.parse(line) !== null) parsed++;
  const elapsedMs = performance.now() - startMs;
  check(parsed === events, 'every line is JSON');
  return (1_000 * parsed) / elapsedMs;
}

/** How long the command runs; it must say `sentence`. */
async function runImport(
  stack: Stack,
  path: string,
  sentence: string,
  options: readonly string[] = [],
): Promise<number> {
  const startMs = performance.now();
  const out = await startImport(stack, path, options).done;
  check(out.includes(sentence), `the import says${sentence}: ${out}`);
  return performance.now() - startMs;
}

function startImport(
  { baseUrl, privateKey }: Stack,
  path: string,
  options: readonly string[] = [],
) {
  const args = ['posthog', path, '--url', baseUrl, '--private-key', privateKey, ...options];
  const child = spawn(process.execPath, [join(root, 'dist/history/import.js'), ...args]);
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

/** Events as posthog-js sends them, of a year, in the order of time. */
async function writeExport(directory: string, events: number): Promise<string> {
  const path = join(directory, `${randomUUID()}.jsonl`);
  const file = createWriteStream(path);
  const stepMs = (days * 86_400_000) / events;
  const startMs = Date.UTC(2025, 0, 1);
  for (let from = 0; from < events; from += 1_000) {
    const count = Math.min(1_000, events - from);
    const lines = Array.from({ length: count }, (_, n) =>
      exportLine(startMs + stepMs * (from + n)),
    );
    if (!file.write(lines.join(''))) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  return path;
}

function exportLine(timeMs: number): string {
  const moment = new Date(timeMs).toISOString();
  const person = `person-${Math.floor(timeMs / 600_000) % 5_000}`;
  const properties = {
    ...{ $os: 'Linux', $browser: 'Chrome', $device_type: 'Desktop', $timezone: 'Europe/Berlin' },
    ...{ $current_url: 'https://shop.example/page?utm_source=news', $host: 'shop.example' },
    ...{ $pathname: '/page', $browser_version: 156, $browser_language: 'en-US', $lib: 'web' },
    ...{ $screen_height: 720, $screen_width: 1280, $device_id: person, utm_source: 'news' },
    ...{ $session_id: sessionOf(timeMs), title: 'Shop', plan: 'pro', seats: 7, price: 1.5 },
  };
  const row = {
    ...{ uuid: randomUUID(), timestamp: moment, _inserted_at: moment, created_at: moment },
    ...{ event: imported, properties, distinct_id: person, elements_chain: '' },
    ...{ person_properties: { plan: 'pro' }, person_id: '01956128-0000-0000-0000-000000000001' },
  };
  return `${JSON.stringify(row)}\n`;
}

function sessionOf(timeMs: number): string {
  const visit = Math.floor(timeMs / 600_000)
    .toString(16)
    .padStart(12, '0');
  return `0195612a-7b00-7c11-8d22-${visit.slice(-12)}`;
}

function rateTable(rates: readonly Rate[], events: number): Table {
  const of = (value: (rate: Rate) => number): number => median(rates.map(value));
  const row = (run: string, value: (rate: Rate) => number): string[] => [
    run,
    of(value).toFixed(0),
    of(({ parse }) => parse).toFixed(0),
    of((rate) => value(rate) / rate.parse).toFixed(2),
  ];
  return {
    title: `${events} events of PostHog's export as JSON lines, medians of ${rates.length} runs`,
    columns: ['run', 'events/s', 'parsed lines/s', 'of parse'],
    rows: [
      row('dry run: read, mapped, checked', ({ dry }) => dry),
      row('first', ({ first }) => first),
      row('until queryable', ({ queryable }) => queryable),
      row('again, all stored', ({ again }) => again),
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
