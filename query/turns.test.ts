// Turns at the engine. Statements wait at gates here, so that each test decides when one ends.

import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RowReader, Select } from '../platform/clickhouse/select-rows.ts';
import { RecentUse } from './calls/recent-use.ts';
import { insightTurnBounds, type TurnBounds, turnBounds } from './calls/turn-bounds.ts';
import { type StatementKind, Turns } from './turns.ts';

const bounds: TurnBounds = {
  running: 4,
  runningOfOwner: 3,
  searches: 3,
  searchesOfOwner: 2,
  waiting: 6,
  waitingOfOwner: 4,
  waitMs: 5_000,
  lingerMs: 1_000,
  cores: 2,
  threads: 2,
};

let timers: Map<() => void, number>;
let nowMs: number;
let turns: Turns;
/** The settings of the statements at the store. */
let settingsOf: Map<string, Select['settings']>;
/** The statements at the store, each with the function that ends it. */
let running: Map<string, () => void>;
beforeEach(() => {
  timers = new Map();
  nowMs = 0;
  running = new Map();
  settingsOf = new Map();
  turns = turnsOf(bounds);
});

/** A project "a.1" is of the owner "a". */
function turnsOf(wanted: TurnBounds): Turns {
  const timer = (ms: number, run: () => void) => {
    timers.set(run, ms);
    return () => void timers.delete(run);
  };
  const ownerOf = (projectId: string): string => projectId.replace(/\..*/, '');
  return new Turns(wanted, timer, { ownerOf, use: new RecentUse(() => nowMs) });
}

const store: RowReader = {
  select: ({ sql, settings, signal }, onRow) =>
    new Promise((resolve, reject) => {
      settingsOf.set(sql, settings);
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
  {
    signal = new AbortController().signal,
    onRow = (): boolean => true,
    spend = (_: number): void => {},
  } = {},
): Promise<void> {
  const select: Select = { sql, params: {}, settings: {}, signal };
  return turns.reader(store, projectId, kind, spend).select(select, onRow);
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
  it("of an owner's many projects are no more than those of one, and go to each of them in turn", async () => {
    for (const n of [1, 2, 3]) void start('a.1', 'search', `a.1 ${n}`);
    for (const n of [2, 3]) void start(`a.${n}`, 'search', `a.${n}`);
    void start('b.1', 'search', 'b');
    await settled();
    expect(names()).toEqual(['a.1 1', 'a.1 2', 'b']);
    await end('a.1 1');
    expect(names()).toEqual(['a.1 2', 'a.1 3', 'b']);
    await end('a.1 2');
    expect(names()).toEqual(['a.1 3', 'a.2', 'b']);
    await end('a.1 3');
    expect(names()).toEqual(['a.2', 'a.3', 'b']);
  });

  it('go first to who asks short questions, and long ones beside them leave a core', async () => {
    void start('a.1', 'search', 'a 1');
    void start('b', 'search', 'b 1');
    await settled();
    nowMs += 20;
    await end('b 1');
    nowMs += 2_000;
    for (const n of [2, 3]) void start(`a.${n}`, 'search', `a ${n}`);
    await settled();
    // Its own bound would allow a second one.
    expect(names()).toEqual(['a 1']);
    for (const n of [2, 3, 4]) void start('b', 'search', `b ${n}`);
    await settled();
    expect(names()).toEqual(['a 1', 'b 2', 'b 3']);
    await end('a 1');
    expect(names()).toEqual(['a 2', 'b 2', 'b 3']);
    expect(settingsOf.get('a 1')).toMatchObject({ priority: 1, max_threads: 2 });
    expect(settingsOf.get('a 2')).toMatchObject({ priority: 5, max_threads: 1 });
    expect(settingsOf.get('b 3')).toMatchObject({ priority: 1, max_threads: 2 });
    void start('a', 'look-up', 'a look-up');
    await settled();
    expect(settingsOf.get('a look-up')).toEqual({ priority: 5 });
  });

  it('of long questions leave one to short ones, whoever asks the long ones', async () => {
    for (const owner of ['a', 'b', 'c']) void start(owner, 'search', `${owner} 1`);
    await settled();
    nowMs += 2_000;
    for (const owner of ['a', 'b', 'c']) await end(`${owner} 1`);
    for (const owner of ['a', 'b', 'c']) void start(owner, 'search', `${owner} 2`);
    await settled();
    expect(names()).toEqual(['a 2', 'b 2']);
    void start('d', 'search', 'd');
    await settled();
    expect(names()).toEqual(['a 2', 'b 2', 'd']);
    await end('d');
    expect(names()).toEqual(['a 2', 'b 2']);
    await end('a 2');
    expect(names()).toEqual(['b 2', 'c 2']);
  });

  it('go to who is slow on a busy machine, beside owners of much longer statements', async () => {
    for (const owner of ['a', 'b']) void start(owner, 'search', `${owner} 1`);
    void start('c', 'search', 'c 1');
    await settled();
    nowMs += 600;
    await end('c 1');
    nowMs += 5_000;
    void start('c', 'search', 'c 2');
    await settled();
    expect(names()).toEqual(['a 1', 'b 1', 'c 2']);
  });

  it('that an owner of many waits for are given up to an owner of fewer, where all places are taken', async () => {
    turns = turnsOf({ ...bounds, waiting: 4 });
    const refused = new Map<string, string>();
    const ask = (projectId: string, name: string): void => {
      start(projectId, 'search', name).catch((error) => refused.set(name, error.rawMessage));
    };
    for (const n of [1, 2, 3, 4, 5, 6]) ask(`a.${n}`, `a ${n}`);
    for (const n of [1, 2]) ask('b', `b ${n}`);
    await settled();
    const ofOwner =
      "too many reads of this project, or of its owner's projects together, are running or waiting";
    const ofAll = 'too many reads of all projects are running or waiting';
    expect([...refused]).toEqual([['a 6', ofOwner]]);
    for (const name of ['c 1', 'c 2', 'd', 'e']) {
      ask(name.slice(0, 1), name);
      await settled();
    }
    expect([...refused].slice(1)).toEqual([
      ['a 5', ofOwner],
      ['c 2', ofAll],
      ['a 4', ofOwner],
      ['e', ofAll],
    ]);
    expect(() => turns.checkRoom('a.7')).not.toThrow();
  });

  it('tell at once that an owner has no place left, and what each statement took', async () => {
    const spent: number[] = [];
    const left = new AbortController();
    const spend = (ms: number): void => void spent.push(ms);
    void start('a.1', 'search', 'first', { spend });
    start('a.1', 'search', 'second', { spend, signal: left.signal }).catch(() => {});
    for (const n of [1, 2, 3, 4]) void start(`a.${n}`, 'search', `waiting ${n}`);
    await settled();
    nowMs += 70;
    await end('first');
    left.abort(new Error('left'));
    await settled();
    expect(spent).toEqual([70, 70 + bounds.lingerMs]);
    void start('a.5', 'search', 'waiting 5');
    await settled();
    expect(() => turns.checkRoom('a.6')).toThrow("its owner's projects");
    expect(() => turns.checkRoom('b')).not.toThrow();
  });

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
    expect([...outcomes.keys()]).toEqual(['a7', 'a6']);
    await pass(bounds.waitMs);
    expect([...outcomes.keys()]).toEqual(['a7', 'a6', 'a3', 'a4', 'a5', 'c', 'd', 'e']);
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
  expect(turnBounds(1)).toMatchObject({ running: 4, runningOfOwner: 3, searches: 3 });
  expect(turnBounds(2)).toMatchObject({ running: 3, runningOfOwner: 2, searches: 2 });
  expect(turnBounds(8)).toMatchObject({ running: 3, searchesOfOwner: 1 });
});

it('the questions of one project leave a turn to others, whose first question passes all that wait', async () => {
  turns = turnsOf(insightTurnBounds(1));
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
    expect(bounds).toMatchObject({ running: 2, runningOfOwner: 1, searchesOfOwner: 1 });
  }
});
