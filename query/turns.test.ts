// Turns at the engine. Statements wait at gates here, so that each test decides when one ends.

import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RowReader, Select } from '../platform/clickhouse/select-rows.ts';
import {
  insightTurnBounds,
  type StatementKind,
  type TurnBounds,
  Turns,
  turnBounds,
} from './turns.ts';

const bounds: TurnBounds = {
  running: 4,
  runningOfProject: 3,
  searches: 3,
  searchesOfProject: 2,
  waiting: 6,
  waitingOfProject: 4,
  waitMs: 5_000,
  lingerMs: 1_000,
};

let timers: Map<() => void, number>;
let turns: Turns;
/** The statements at the store, each with the function that ends it. */
let running: Map<string, () => void>;
beforeEach(() => {
  timers = new Map();
  running = new Map();
  turns = new Turns(bounds, (ms, run) => {
    timers.set(run, ms);
    return () => void timers.delete(run);
  });
});

const store: RowReader = {
  select: ({ sql, signal }, onRow) =>
    new Promise((resolve, reject) => {
      running.set(sql, () => {
        running.delete(sql);
        if (sql.includes('row')) onRow('[]');
        resolve();
      });
      signal.addEventListener('abort', () => {
        running.delete(sql);
        reject(new Error('left'));
      });
    }),
};

function start(
  projectId: string,
  kind: StatementKind,
  sql: string,
  { signal = new AbortController().signal, onRow = (): boolean => true } = {},
): Promise<void> {
  const select: Select = { sql, params: {}, settings: {}, signal };
  return turns.reader(store, projectId, kind).select(select, onRow);
}

const names = (): string[] => [...running.keys()].sort();

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

async function end(sql: string): Promise<void> {
  running.get(sql)?.();
  await settled();
}

async function pass(ms: number): Promise<void> {
  for (const [run, after] of [...timers]) {
    if (after !== ms) continue;
    timers.delete(run);
    run();
  }
  await settled();
}

describe('turns', () => {
  it('leave room beside the searches of one project: for its look-ups and for others', async () => {
    for (const n of [1, 2, 3, 4]) void start('a', 'search', `a search ${n}`);
    void start('a', 'look-up', 'a look-up 1');
    void start('a', 'look-up', 'a look-up 2');
    void start('b', 'look-up', 'b look-up');
    await settled();
    expect(names()).toEqual(['a look-up 1', 'a search 1', 'a search 2', 'b look-up']);
    await end('a look-up 1');
    expect(names()).toEqual(['a look-up 2', 'a search 1', 'a search 2', 'b look-up']);
  });

  it('leave room for a look-up beside the searches of all projects', async () => {
    for (const project of ['a', 'b', 'c', 'd']) void start(project, 'search', project);
    await settled();
    expect(names()).toEqual(['a', 'b', 'c']);
    void start('e', 'look-up', 'e');
    await settled();
    expect(names()).toEqual(['a', 'b', 'c', 'e']);
  });

  it('go to each project that waits before any has a second', async () => {
    for (const n of [1, 2, 3, 4, 5]) void start('a', 'search', `a${n}`);
    void start('b', 'search', 'b1');
    void start('b', 'search', 'b2');
    void start('c', 'search', 'c1');
    await settled();
    expect(names()).toEqual(['a1', 'a2', 'b1']);
    await end('a1');
    expect(names()).toEqual(['a2', 'a3', 'b1']);
    await end('b1');
    expect(names()).toEqual(['a2', 'a3', 'b2']);
    await end('a2');
    expect(names()).toEqual(['a3', 'b2', 'c1']);
    for (const name of ['a3', 'b2', 'c1', 'a4', 'a5']) await end(name);
    expect(names()).toEqual([]);
  });

  it('are refused with resource_exhausted after a wait, or at once where too many wait', async () => {
    const outcomes = new Map<string, unknown>();
    const ask = (projectId: string, name: string): void => {
      start(projectId, 'search', name).catch((error) => outcomes.set(name, error));
    };
    for (const n of [1, 2, 3, 4, 5, 6, 7]) ask('a', `a${n}`);
    for (const project of ['b', 'c', 'd', 'e']) ask(project, project);
    await settled();
    expect([...outcomes.keys()]).toEqual(['a7', 'e']);
    await pass(bounds.waitMs);
    expect([...outcomes.keys()]).toEqual(['a7', 'e', 'a3', 'a4', 'a5', 'a6', 'c', 'd']);
    for (const error of outcomes.values()) {
      const refused = ConnectError.from(error);
      expect(refused.code).toBe(Code.ResourceExhausted);
      expect(refused.metadata.get('retry-after')).toBe('5');
    }
    expect(names()).toEqual(['a1', 'a2', 'b']);
  });

  it('are not waited for by who has left before', async () => {
    for (const n of [1, 2]) void start('a', 'search', `a${n}`);
    const signal = AbortSignal.abort(new Error('left'));
    await expect(start('a', 'search', 'a3', { signal })).rejects.toThrow('left');
    await end('a1');
    expect([names(), timers.size]).toEqual([['a2'], 0]);
  });

  it('are kept for a while after a statement was left: the engine goes on to its next block', async () => {
    const gone = new AbortController();
    const left = start('a', 'search', 'left', { signal: gone.signal });
    const stopped = start('a', 'search', 'a row', { onRow: () => false });
    void start('a', 'search', 'next 1');
    void start('a', 'search', 'next 2');
    await settled();
    gone.abort();
    await expect(left).rejects.toThrow('left');
    await end('a row');
    await stopped;
    expect(names()).toEqual([]);
    await pass(bounds.lingerMs);
    expect(names()).toEqual(['next 1', 'next 2']);
  });

  it('are not waited for by those who leave', async () => {
    const gone = new AbortController();
    const first = [1, 2].map((n) => start('a', 'search', `a${n}`));
    const waiting = start('a', 'search', 'a3', { signal: gone.signal });
    gone.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(timers.size).toBe(0);
    await end('a1');
    await end('a2');
    await Promise.all(first);
    expect(names()).toEqual([]);
  });
});

it('several processes share the engine', () => {
  expect(turnBounds(1)).toMatchObject({ running: 4, runningOfProject: 3, searches: 3 });
  expect(turnBounds(2)).toMatchObject({ running: 2, runningOfProject: 1, searchesOfProject: 1 });
  expect(turnBounds(8).running).toBe(2);
});

it('the questions of one project leave a turn to others, whose first question passes all that wait', async () => {
  turns = new Turns(insightTurnBounds(1), () => () => {});
  for (let n = 0; n < 512; n++) void start('a', 'search', `a${n}`);
  void start('b', 'search', 'b0');
  void start('b', 'search', 'b1');
  await settled();
  expect(names()).toEqual(['a0', 'a1', 'b0']);
  await end('a0');
  expect(names()).toEqual(['a1', 'a2', 'b0']);
  await end('b0');
  expect(names()).toEqual(['a1', 'a2', 'b1']);
  for (const bounds of [insightTurnBounds(2), insightTurnBounds(8)]) {
    expect(bounds).toMatchObject({ running: 2, runningOfProject: 1, searchesOfProject: 1 });
  }
});
