import { Code, ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

it("limits an organization's callers together, and each alone; taking away never", () => {
  let nowMs = 0;
  const limits = { changesPerCaller: 2, changesPerOrganization: 3, readsPerSecond: 1 };
  const take = createRateLimit(limits, { nowMs: () => nowMs });
  const waitOf = (rate: 'change' | 'read' | 'free', id: string, organizationId = 'o') => {
    try {
      take(rate, { id, organizationId });
      return 'taken';
    } catch (error) {
      const { code, metadata } = ConnectError.from(error);
      expect(code).toBe(Code.ResourceExhausted);
      return metadata.get('retry-after');
    }
  };
  expect(['a', 'a', 'a'].map((id) => waitOf('change', id))).toEqual(['taken', 'taken', '1']);
  expect(['b', 'c'].map((id) => waitOf('change', id))).toEqual(['taken', '1']);
  expect(waitOf('change', 'd', 'other')).toBe('taken');
  expect([waitOf('free', 'a'), waitOf('read', 'a'), waitOf('read', 'a')]).toEqual([
    'taken',
    'taken',
    '1',
  ]);
  nowMs = 1_000;
  expect([waitOf('change', 'a'), waitOf('read', 'a')]).toEqual(['taken', 'taken']);
});
