// The time of a start: the first on an empty data directory, later ones, which find everything in place, and later ones
// where much is stored. Each is told apart into the part of the engines, until both have answered, and the service's.

import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { batchCreate, eventually, newEvent } from '../../../test/harness/clients/client.ts';
import { removeFolder } from '../../../test/harness/remove-folder.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Report } from '../../bench.ts';
import { runStatement } from '../../harness/engine/engine-statement.ts';
import { untilMerged } from '../../harness/engine/merges.ts';
import { storeVisits, visitSql } from '../../harness/engine/stored-visits.ts';
import { countRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { startMeasuredStack } from '../../harness/processes/measured-stack.ts';

const storeTimeoutMs = 120_000;

interface Start {
  tookMs: number;
  /** Until broker and engine have answered. */
  enginesMs: number;
  /** From ready until an event that was sent then is stored; undefined where none was sent. */
  storedAfterMs: number | undefined;
}

export const startBench: Bench = {
  name: 'start',
  question: 'How soon is the service ready, the first time and again?',
  async run(mode) {
    return withDirectory(async (begin) => {
      const first = await begin();
      const next: Start[] = [];
      while (next.length < (mode === 'smoke' ? 1 : 5)) next.push(await begin());
      return reportOf('From the start of the process until it is ready', [
        rowOf('first', '', [first]),
        rowOf('again', '5000', next),
      ]);
    });
  },
};

export const startStoredBench: Bench = {
  name: 'start-stored',
  question: 'How soon is the service ready where much is stored, and how soon does it store?',
  async run(mode) {
    const [stored, starts] = mode === 'smoke' ? [2_000, 1] : [20_000_000, 3];
    return withDirectory(async (begin) => {
      const lastMs = Date.now();
      await begin(async (stack) => {
        await storeVisits(stack, stored, lastMs);
        await untilMerged(stack);
        return 0;
      });
      const next: Start[] = [];
      while (next.length < starts) {
        const before = stored + next.length;
        next.push(await begin((stack) => sendOneNew(stack, { stored, lastMs, before })));
      }
      const title = `From the start of the process until it is ready, ${stored} events of ten hours stored`;
      return reportOf(title, [rowOf('again', '', next)]);
    });
  },
};

/** Starts the service; `use` sends and returns how soon that was stored. Then stops it. */
type Begin = (use?: (stack: Stack) => Promise<number>) => Promise<Start>;

/** Runs starts on one directory. */
async function withDirectory(run: (begin: Begin) => Promise<Report>): Promise<Report> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-start-'));
  const keys = new Set<string>();
  try {
    const report = await run(async (use) => {
      const fromMs = Date.now();
      const stack = await startMeasuredStack({ dataDir });
      const tookMs = Date.now() - fromMs;
      keys.add(stack.publicKey);
      const enginesMs = connectedMs(stack) - fromMs;
      const storedAfterMs = await use?.(stack);
      await stack.stop();
      return { tookMs, enginesMs, storedAfterMs };
    });
    check(keys.size === 1, 'every start has the same keys');
    return report;
  } finally {
    await removeFolder(dataDir);
  }
}

function reportOf(title: string, rows: string[][]): Report {
  const columns = ['', 'asked ms', 'reached ms', 'engines ms', 'after them ms', 'stored ms'];
  const resultHash = createHash('sha256').update('one set of keys').digest('hex');
  return { tables: [{ title, columns, rows }], resultHash };
}

function rowOf(name: string, asked: string, starts: readonly Start[]): string[] {
  const middle = (of: (start: Start) => number): string => median(starts.map(of)).toFixed(0);
  const isSent = starts.every(({ storedAfterMs }) => storedAfterMs !== undefined);
  return [
    ...[name, asked],
    middle(({ tookMs }) => tookMs),
    middle(({ enginesMs }) => enginesMs),
    middle(({ tookMs, enginesMs }) => tookMs - enginesMs),
    isSent ? middle(({ storedAfterMs = 0 }) => storedAfterMs) : '',
  ];
}

/** When the service was connected: it connects once the engine listens, and the broker has answered then. */
function connectedMs(stack: Stack): number {
  for (const line of stack.log().split('\n')) {
    if (!line.includes('connected to the broker')) continue;
    const { time } = JSON.parse(line);
    return new Date(time).getTime();
  }
  throw new Error(`the log does not say when the broker answered\n${stack.log()}`);
}

/** Sends the newest, a middle and the oldest stored event again with a new one; returns when that is stored. */
async function sendOneNew(
  stack: Stack,
  { stored, lastMs, before }: { stored: number; lastMs: number; before: number },
): Promise<number> {
  const fromMs = Date.now();
  const numbers = `[0, ${Math.floor(stored / 2)}, ${stored - 1}]`;
  const { id, time } = visitSql('number', stored, lastMs);
  const rows = await runStatement(
    stack,
    `SELECT toString(${id}), toUnixTimestamp64Milli(${time}) FROM (SELECT arrayJoin(${numbers}) AS number) FORMAT TabSeparated`,
  );
  const repeats = rows
    .trim()
    .split('\n')
    .map((row) => {
      const [eventId = '', occurMs = ''] = row.split('\t');
      return newEvent({ eventId, occurTime: new Date(Number(occurMs)).toISOString() });
    });
  const { status } = await batchCreate(stack, [...repeats, newEvent()]);
  check(status === 200, 'the events are taken');
  const rowsNow = await eventually(
    () => countRows(stack),
    (count) => count > before,
    storeTimeoutMs,
  );
  check(rowsNow === before + 1, 'the new event is stored, and no other again');
  return Date.now() - fromMs;
}
