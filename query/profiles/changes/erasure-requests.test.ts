// Which request for a profile answers for the next one: none that leaves alone who came back.

import { expect, it } from 'vitest';
import type { ErasureRecord } from '../../../platform/erasure/erasure-record.ts';
import { type ErasureRequests, openRequestOf } from './erasure-requests.ts';

const asked: ErasureRecord = {
  ...{
    schemaVersion: 1,
    requestId: 'first',
    projectId: 'shop',
    profileId: 'ada',
    status: 'pending',
  },
  ...{ sealedId: 'sealed', ids: '', events: 0, requestedAtMs: 1_000, completedAtMs: 0, error: '' },
};

function found(...records: readonly ErasureRecord[]): string | undefined {
  const known = {
    *records(): ReturnType<ErasureRequests['known']['records']> {
      for (const record of records) yield [record.requestId, record];
    },
  };
  return openRequestOf({ known }, 'shop', 'ada')?.requestId;
}

it('finds the open request of the profile', () => {
  const others = [
    { ...asked, requestId: 'done', status: 'completed' as const },
    { ...asked, requestId: 'of another project', projectId: 'blog' },
    { ...asked, requestId: 'of another profile', profileId: 'bob' },
  ];
  expect(found(...others)).toBeUndefined();
  expect(found(...others, asked)).toBe('first');
  expect(found(...others, { ...asked, status: 'processing' })).toBe('first');
});

it('finds none that was opened again for late rows', () => {
  const again = { ...asked, requestId: 'again', firstCompletedAtMs: 2_000 };
  expect(found(again)).toBeUndefined();
  expect(found({ ...again, status: 'processing' })).toBeUndefined();
  expect(found(again, asked)).toBe('first');
});
