// Which request for a profile answers for the next one: none that leaves alone who came back. How far a request is says
// that it was opened again.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import type { ErasureRecord } from '../../../platform/erasure/erasure-record.ts';
import { getDeletionRequest } from './erase-profile.ts';
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

const requestType = 'shared.profiles.v1.GetDeletionRequestRequest';

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

it('tells when a request was completed first that is open again', async () => {
  const requestId = '0'.repeat(36);
  const record = { ...asked, requestId, sealedId: '' };
  const answer = (firstCompletedAtMs?: number) => {
    const found = { ...record, ...(firstCompletedAtMs !== undefined && { firstCompletedAtMs }) };
    const requests: ErasureRequests = {
      bucket: {
        create: async () => ({ kind: 'conflict' }),
        get: async () => ({ kind: 'found', record: found, revision: 1 }),
      },
      known: { *records() {} },
      box: { seal: (text) => text, open: (text) => text },
      clock: { nowMs: () => 3_000 },
    };
    return getDeletionRequest(requests, 'shop', { $typeName: requestType, requestId });
  };
  expect((await answer()).firstCompletedAt).toBeUndefined();
  const again = await answer(2_000);
  expect(again.firstCompletedAt).toEqual(timestampFromMs(2_000));
  expect(again.completedAt).toBeUndefined();
});
