import { expect, it } from 'vitest';
import { answered, asking, failed, nothingAsked } from './resource-state.ts';

const june = answered('june', 6);
const fault = new Error('too long');

it('shows the last answer while the next one is on its way', () => {
  expect(asking(june, 'july', undefined)).toMatchObject({ answer: { data: 6 }, isDone: false });
  expect(asking(june, 'july', 7)).toMatchObject({ answer: { of: 'july', data: 7 } });
});

it('leaves beside a fault only an answer to the same question', () => {
  const again = asking(june, 'june', undefined);
  expect(failed(again, 'june', fault)).toMatchObject({ answer: { data: 6 }, error: fault });
  const next = asking(june, 'july', undefined);
  expect(failed(next, 'july', fault)).toMatchObject({ answer: undefined, error: fault });
  expect(failed(nothingAsked, 'june', fault).answer).toBeUndefined();
});
