// A busy store is not away: it may leave a question unanswered, or answer nobody but one long read. Questions and rows
// come when the test says so; a store that really stands still is in routes.test.ts.

import { expect, it } from 'vitest';
import type { RowReader, Select } from '../platform/clickhouse/select-rows.ts';
import { StoreAway, StoreWatch } from './store-watch.ts';

const { signal } = new AbortController();
const select: Select = { sql: 'SELECT 1', params: {}, settings: {}, signal };

function start() {
  const questions: ((answers: boolean) => void)[] = [];
  const timers: (() => void)[] = [];
  const rows: ((text: string) => boolean)[] = [];
  const watch = new StoreWatch({
    answers: () => new Promise((resolve) => questions.push(resolve)),
    timer: (_ms, run) => {
      timers.push(run);
      return () => {};
    },
    silenceMs: 1,
  });
  const store: RowReader = {
    select: ({ signal }, onRow) =>
      new Promise((_resolve, reject) => {
        rows.push(onRow);
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  let ended: unknown;
  const reader = watch.reader(store);
  const read = () =>
    reader
      .select(select, () => true)
      .catch((error: unknown) => {
        ended = error;
      });
  const answer = async (answers: boolean) => {
    questions.shift()?.(answers);
    await new Promise(setImmediate);
  };
  return { read, answer, questions, timers, rows, ended: () => ended };
}

it('a read goes on while the store leaves one question unanswered, and ends after two', async () => {
  const { read, answer, timers, ended } = start();
  void read();
  timers.shift()?.();
  await answer(false);
  await answer(true);
  expect(ended()).toBeUndefined();
  timers.shift()?.();
  await answer(false);
  await answer(false);
  expect(ended()).toBeInstanceOf(StoreAway);
});

it('a read goes on while the store sends rows to another', async () => {
  const { read, answer, timers, rows, ended } = start();
  void read();
  void read();
  timers.shift()?.();
  rows[1]?.('row');
  await answer(false);
  await answer(false);
  expect(ended()).toBeUndefined();
});
