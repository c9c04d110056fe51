import { expect, it } from 'vitest';
import { askedAgain } from './ran-out.mjs';

const wait = { name: 'TimeoutError', message: 'locator.waitFor: Timeout 60000ms exceeded.' };
const condition = { name: 'Error', message: 'it does not hold in the page: globalThis.heard' };
const wrong = { name: 'AssertionError', message: 'expected 2 to be 1' };
const page = (name: string, ...errors: (typeof wait)[]) => ({ path: `test/web/${name}`, errors });

it('asks for pages whose waits ran out again, a few', () => {
  expect(askedAgain([])).toEqual([]);
  expect(askedAgain([page('a', wait), page('b', condition, wait)])).toEqual([
    'test/web/a',
    'test/web/b',
  ]);
  expect(askedAgain(['a', 'b', 'c', 'd'].map((name) => page(name, wait)))).toEqual([]);
});

it('never where a value was wrong, a file did not load, or the service was waited for', () => {
  expect(askedAgain([page('a', wait, wrong)])).toEqual([]);
  expect(askedAgain([page('a', wait), page('b', wrong)])).toEqual([]);
  expect(askedAgain([page('a')])).toEqual([]);
  expect(askedAgain([{ path: 'test/crash.test.ts', errors: [wait] }])).toEqual([]);
});
