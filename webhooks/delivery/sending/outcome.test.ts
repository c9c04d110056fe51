// What a status of an endpoint means for its delivery.

import { expect, it } from 'vitest';
import { outcomeOf } from './outcome.ts';

const answered = (code: number, retryAfter?: string) =>
  outcomeOf({ kind: 'answered', code, retryAfter, text: '' }, 0);

it.each([
  [199, 'failed', 'http_status'],
  [200, 'succeeded', ''],
  [299, 'succeeded', ''],
  [300, 'failed', 'redirected'],
  [304, 'failed', 'redirected'],
  [399, 'failed', 'redirected'],
  [400, 'failed', 'http_status'],
  [409, 'failed', 'http_status'],
  [410, 'gone', 'http_status'],
  [411, 'failed', 'http_status'],
  [599, 'failed', 'http_status'],
])('%i means %s', (code, kind, error) => {
  expect(answered(code)).toMatchObject({ kind, error, responseCode: code });
});

it('Retry-After counts with 429 and 503, and with nothing else', () => {
  const hints = [429, 503, 500, 502, 301, 410].map((code) => answered(code, '7').retryAfterMs);
  expect(hints).toEqual([7_000, 7_000, undefined, undefined, undefined, undefined]);
});
