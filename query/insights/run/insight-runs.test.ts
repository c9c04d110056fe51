// Who gets which rows, and which statements run for them. Statements wait at gates here, so that each test decides when
// one ends.

import { ClickHouseError } from '@clickhouse/client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { RecentUse } from '../../calls/recent-use.ts';
import { insightTurnBounds, turnBounds } from '../../calls/turn-bounds.ts';
import { Turns } from '../../turns.ts';
import { InsightRuns } from './insight-runs.ts';

interface Gate {
  sql: string;
  priority: unknown;
  answer: (text: string) => void;
  fail: (error: Error) => void;
}

let nowMs: number;
let completeUntil: number | undefined;
/** Of all ranges of the project. */
let storedVersion: string;
let versionsRead: number;
/** Versions are read when it resolves, and fail when it rejects. */
let readingVersion: Promise<void>;
/** The questions' statements that are at the store. */
let running: Gate[];
let runs: InsightRuns;
beforeEach(() => {
  nowMs = 1_000_000;
  completeUntil = 500;
  storedVersion = '["events","1"]';
  versionsRead = 0;
  readingVersion = Promise.resolve();
  running = [];
  const never = () => () => {};
  runs = new InsightRuns({
    clickhouse: store,
    completeUntilMs: async () => completeUntil,
    clock: { nowMs: () => 400 },
    turns: new Turns(turnBounds(1), never),
    insightTurns: new Turns(insightTurnBounds(1), never, { use: new RecentUse(() => nowMs) }),
    nowMs: () => nowMs,
  });
});

const store: RowReader = {
  select: async ({ sql, settings, signal }, onRow) => {
    if (sql.includes('event_counts')) {
      versionsRead++;
      await readingVersion;
      onRow(storedVersion);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const gate: Gate = {
        sql,
        priority: settings['priority'],
        answer(text) {
          running = running.filter((other) => other !== gate);
          onRow(text);
          resolve();
        },
        fail(error) {
          running = running.filter((other) => other !== gate);
          reject(error);
        },
      };
      running.push(gate);
      signal.addEventListener('abort', () => gate.fail(new Error('cancelled')));
    });
  },
};

const range = { fromMs: 0, toMs: 1 };

async function ask(
  sql = 'question',
  { project = 'a', params = {}, signal = new AbortController().signal } = {},
) {
  const stored = runs.stored(project, range, await runs.options.completeUntilMs(project));
  return runs.rows({ projectId: project }, stored, { sql, params, maxRows: 10 }, { signal });
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Asks, and answers the statement that runs for it. */
async function askAndAnswer(text: string, sql?: string): Promise<readonly string[]> {
  const asked = ask(sql);
  await settled();
  running[0]?.answer(text);
  return (await asked).texts;
}

describe('a statement that finds no memory', () => {
  const lacking = (message: string) =>
    new ClickHouseError({ code: '241', type: 'MEMORY_LIMIT_EXCEEDED', message });

  it('because others hold it runs once more', async () => {
    const asked = ask();
    await settled();
    const [first] = running;
    first?.fail(lacking('(total) memory limit exceeded: would use 800 MiB'));
    await expect.poll(() => running.length).toBe(1);
    expect(running[0]).not.toBe(first);
    running[0]?.answer('[1]');
    expect((await asked).texts).toEqual(['[1]']);
  });

  it('of its own is refused', async () => {
    const asked = ask();
    await settled();
    running[0]?.fail(lacking('Query memory limit exceeded: would use 400 MiB'));
    await expect(asked).rejects.toThrow('the question needs too much memory');
  });
});

describe('kept rows', () => {
  it('are given again while nothing has changed', async () => {
    expect(await askAndAnswer('[1]')).toEqual(['[1]']);
    const again = await ask();
    expect([again.texts, running.length, versionsRead]).toEqual([['[1]'], 0, 2]);
  });

  it('have their version looked at again where a look failed for another question of the same board', async () => {
    const stored = runs.stored('a', range, 500);
    readingVersion = Promise.reject(new Error('socket hang up'));
    await expect(stored.seen()).rejects.toThrow('socket hang up');
    readingVersion = Promise.resolve();
    await expect(stored.seen()).resolves.toMatchObject({ events: 1 });
  });

  it('are no wait for who asks after a caller who had left before anything ran', async () => {
    const signal = AbortSignal.abort(new Error('left'));
    await expect(ask('question', { signal })).rejects.toThrow('left');
    let read = () => {};
    readingVersion = new Promise((resolve) => {
      read = resolve;
    });
    const asked = ask();
    await settled();
    expect(running).toHaveLength(1);
    running[0]?.answer('[1]');
    read();
    expect((await asked).texts).toEqual(['[1]']);
  });

  it('are not given for another version, project, text or parameter', async () => {
    await askAndAnswer('[1]');
    void ask('another');
    void ask('question', { project: 'b' });
    await settled();
    expect(running).toHaveLength(2);
    for (const { answer } of [...running]) answer('[2]');
    void ask('question', { params: { p0: 0 } });
    void ask('question', { params: { p0: -0 } });
    await settled();
    expect(running).toHaveLength(2);
    for (const { answer } of [...running]) answer('[3]');
    storedVersion = '["events","2"]';
    expect(await askAndAnswer('[4]')).toEqual(['[4]']);
    expect((await ask()).texts).toEqual(['[4]']);
  });

  it('of a version that may not be whole are kept for a second, and later ones for ever', async () => {
    await askAndAnswer('[1]');
    nowMs += 999;
    expect((await ask()).texts).toEqual(['[1]']);
    nowMs += 1;
    expect(await askAndAnswer('[2]')).toEqual(['[2]']);
    nowMs += 4_000;
    expect(await askAndAnswer('[3]')).toEqual(['[3]']);
    nowMs += 1e9;
    expect((await ask()).texts).toEqual(['[3]']);
  });

  it('of a version that has events of an insert that did not end are kept no longer, either', async () => {
    completeUntil = 399;
    await askAndAnswer('[1]');
    nowMs += 5_000;
    expect(await askAndAnswer('[1]')).toEqual(['[1]']);
    nowMs += 5_000;
    completeUntil = undefined;
    expect(await askAndAnswer('[2]')).toEqual(['[2]']);
    nowMs += 5_000;
    completeUntil = 400;
    expect(await askAndAnswer('[3]')).toEqual(['[3]']);
    nowMs += 5_000;
    expect((await ask()).texts).toEqual(['[3]']);
  });

  it('are as complete as the newest check says, unless the version may not have been whole', async () => {
    await askAndAnswer('[1]');
    completeUntil = 600;
    expect((await ask()).completeUntilMs).toBe(500);
    nowMs += 5_000;
    await askAndAnswer('[1]');
    completeUntil = 700;
    expect((await ask()).completeUntilMs).toBe(700);
    completeUntil = undefined;
    expect((await ask()).completeUntilMs).toBeUndefined();
  });

  it('are none where the statement failed', async () => {
    const failed = ask();
    await settled();
    running[0]?.fail(new Error('broken'));
    await expect(failed).rejects.toThrow('broken');
    expect(await askAndAnswer('[1]')).toEqual(['[1]']);
  });
});

describe('a new question', () => {
  it('runs its statement before its version is read', async () => {
    let read = () => {};
    readingVersion = new Promise((resolve) => {
      read = resolve;
    });
    const asked = ask();
    await settled();
    expect(running).toHaveLength(1);
    running[0]?.answer('[1]');
    read();
    expect((await asked).texts).toEqual(['[1]']);
    expect((await ask()).texts).toEqual(['[1]']);
  });

  it('ends where its version cannot be read', async () => {
    readingVersion = Promise.reject(new Error('no store'));
    await expect(ask()).rejects.toThrow('no store');
    await settled();
    expect(running).toHaveLength(0);
  });
});

describe('the same question at once', () => {
  it('runs one statement, and reads the version for all who came together', async () => {
    const asked = Array.from({ length: 10 }, () => ask());
    await settled();
    expect(running).toHaveLength(1);
    running[0]?.answer('[1]');
    expect((await Promise.all(asked)).map(({ texts }) => texts[0])).toEqual(Array(10).fill('[1]'));
    expect(versionsRead).toBe(2);
  });

  it('runs a second statement where something was stored since the first began', async () => {
    const first = ask();
    await settled();
    storedVersion = '["events","2"]';
    const second = ask();
    await settled();
    expect(running).toHaveLength(1);
    running[0]?.answer('[1]');
    expect((await first).texts).toEqual(['[1]']);
    await settled();
    expect(running).toHaveLength(1);
    running[0]?.answer('[2]');
    expect((await second).texts).toEqual(['[2]']);
  });

  it('goes on for those who stay, and ends when all have left', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const leaving = ask('question', { signal: first.signal });
    const staying = ask('question', { signal: second.signal });
    await settled();
    first.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    expect(running).toHaveLength(1);
    second.abort(new Error('gone too'));
    await expect(staying).rejects.toThrow('gone too');
    expect(running).toHaveLength(0);
    expect(await askAndAnswer('[1]')).toEqual(['[1]']);
  });

  it('runs it once more for all who waited where it fails', async () => {
    const asked = [ask(), ask(), ask()].map((one) =>
      one.then(
        () => 'answered',
        (error: Error) => error.message,
      ),
    );
    await settled();
    running[0]?.fail(new Error('broken'));
    await settled();
    expect(running).toHaveLength(1);
    running[0]?.fail(new Error('broken again'));
    expect(await Promise.all(asked)).toEqual(['broken', 'broken again', 'broken again']);
  });
});

it('the project whose statements run long goes last', async () => {
  const asked = ask('long');
  await settled();
  expect(running[0]?.priority).toBe(1);
  nowMs += 10_000;
  void ask('next of the same');
  void ask('of another', { project: 'b' });
  await settled();
  expect(running.map(({ priority }) => priority)).toEqual([1, 7, 1]);
  running[0]?.answer('[1]');
  await asked;
});
