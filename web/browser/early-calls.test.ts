// Whose answer a call has that was made before the app was there, and that no call is made twice.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const list = '/dashboard.orgs.v1.OrgsService/List';
const asked = vi.fn(async () => new Response());

const call = (fetchOnce: typeof fetch, path: string, token: string) =>
  fetchOnce(`http://app.test${path}`, {
    headers: new Headers({ authorization: `Bearer ${token}` }),
  });

beforeEach(() => {
  vi.resetModules();
  vi.stubGlobal('window', { location: { href: 'http://app.test/p/1' } });
  vi.stubGlobal('fetch', asked);
});
afterEach(() => {
  vi.unstubAllGlobals();
  asked.mockClear();
});

it('gives the answer of an early call to the first call like it, with the same credential', async () => {
  const { callEarly, fetchOnce } = await import('./early-calls.ts');
  callEarly('a');
  expect(asked).toHaveBeenCalledTimes(2);
  await call(fetchOnce, list, 'a');
  expect(asked).toHaveBeenCalledTimes(2);
  await call(fetchOnce, list, 'a');
  expect(asked).toHaveBeenCalledTimes(3);
});

it('gives nobody the answer of somebody else', async () => {
  const { callEarly, fetchOnce } = await import('./early-calls.ts');
  callEarly('a');
  await call(fetchOnce, list, 'b');
  expect(asked).toHaveBeenCalledTimes(3);
});

it('makes no early call once the app has made one', async () => {
  const { callEarly, fetchOnce } = await import('./early-calls.ts');
  await call(fetchOnce, list, 'a');
  callEarly('a');
  expect(asked).toHaveBeenCalledTimes(1);
});

it('tells the failure of an early call to whoever takes it', async () => {
  asked.mockRejectedValueOnce(new TypeError('Failed to fetch'));
  const { callEarly, fetchOnce } = await import('./early-calls.ts');
  callEarly('a');
  await expect(call(fetchOnce, list, 'a')).rejects.toThrow('Failed to fetch');
});
