import { expect, it } from 'vitest';
import { OpenQuestions } from './open-questions.ts';

it('tell a question that is alone in its project from several', async () => {
  const open = new OpenQuestions();
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const kept = open.with('one', () => answered);
  expect(open.isAlone('one')).toBe(true);
  const refused = open.with('one', async () => {
    expect([open.isAlone('one'), open.isAlone('other')]).toEqual([false, true]);
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect(open.isAlone('one')).toBe(true);
  answer();
  await kept;
  expect(await open.with('one', async () => open.isAlone('one'))).toBe(true);
});
