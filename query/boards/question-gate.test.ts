import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { QuestionGate } from './question-gate.ts';

const { signal } = new AbortController();

/** Work that runs until it is told to end. */
function gated() {
  const ends: (() => void)[] = [];
  return {
    work: () => new Promise<void>((resolve) => ends.push(resolve)),
    begun: () => ends.length,
    endOne: async () => {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('runs three questions of a project at once, the others in their order, and other projects beside', async () => {
  const gate = new QuestionGate();
  const first = gated();
  const second = gated();
  const asked = Array.from({ length: 4 }, () => gate.run('a', signal, first.work));
  const other = gate.run('b', signal, second.work);
  await new Promise((resolve) => setImmediate(resolve));
  expect([first.begun(), second.begun()]).toEqual([3, 1]);
  await first.endOne();
  expect(first.begun()).toBe(3);
  for (let left = 3; left > 0; left--) await first.endOne();
  await second.endOne();
  await Promise.all([...asked, other]);
});

it('lets go who leaves while waiting, and gives a place back after a failure', async () => {
  const gate = new QuestionGate();
  const running = gated();
  const asked = Array.from({ length: 3 }, () => gate.run('a', signal, running.work));
  const leaving = new AbortController();
  const left = gate.run('a', leaving.signal, running.work);
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  for (let each = 0; each < 3; each++) await running.endOne();
  await Promise.all(asked);
  const failing = () => Promise.reject(new Error('failed'));
  for (let each = 0; each < 4; each++) {
    await expect(gate.run('a', signal, failing)).rejects.toThrow('failed');
  }
});

it('refuses more than may wait', async () => {
  const gate = new QuestionGate();
  const running = gated();
  const leaving = new AbortController();
  const asked = Array.from({ length: 153 }, () =>
    gate.run('a', AbortSignal.any([leaving.signal]), running.work),
  );
  const settled = Promise.allSettled(asked);
  await expect(gate.run('a', signal, running.work)).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
  leaving.abort();
  for (let each = 0; each < 3; each++) await running.endOne();
  await settled;
});
