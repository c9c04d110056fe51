import { expect, it } from 'vitest';
import { maxProfileMembers } from '../../../platform/limits.ts';
import { projectMark } from '../../../proto/wire/frame.ts';
import { MemberTurns, type MemberWork, maxBatchMembers } from './member-turns.ts';

const work = (project: string, members: number): MemberWork => ({
  projects: [...project].map(projectMark),
  members,
});
const large = maxProfileMembers;

it('gives each project its share, and one message beyond it to whoever had none longest', () => {
  const turns = new MemberTurns();
  const waiting = [work('a', large), work('a', large), work('b', large), work('c', 10)];
  expect(turns.take(waiting)).toEqual([true, false, false, true]);
  expect(turns.take(waiting.slice(1))).toEqual([false, true, true]);
  expect(turns.take([work('a', large), work('b', large)])).toEqual([true, false]);
  const many = Array.from({ length: 60 }, () => work('d', maxBatchMembers / 10));
  expect(turns.take([...many, work('c', 10)]).filter(Boolean)).toHaveLength(10);
});

it('lets no message pass an earlier one of its projects, nor one that names none', () => {
  const turns = new MemberTurns();
  const passing = [work('a', large), work('b', large), work('bc', 0), work('c', 0), work('d', 0)];
  expect(turns.take(passing)).toEqual([true, false, false, false, true]);
  const nameless = [work('a', 1), work('', large), work('e', 0)];
  expect(turns.take(nameless)).toEqual([true, true, false]);
  const late = [work('b', 1), work('b', large), work('', 0), work('e', 0)];
  expect(turns.take(late)).toEqual([true, false, false, false]);
});
