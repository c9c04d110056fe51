import { expect, it } from 'vitest';
import { newDelivery } from '../../test/harness/webhooks/delivery-broker.ts';
import { createAdmission } from './admission.ts';

it('a record of a newer version is no deletion: its deliveries come again until it can be read', async () => {
  let kind: 'unreadable' | 'absent' = 'unreadable';
  const admit = createAdmission({
    directory: { get: () => undefined },
    bucket: { ask: async () => (kind === 'absent' ? { kind } : { kind, revision: 1 }) },
  });
  const delivery = newDelivery('org', 'hook');
  expect(await admit(delivery)).toEqual({ kind: 'wait' });
  kind = 'absent';
  expect(await admit(delivery)).toEqual({ kind: 'drop' });
});

it('a delivery of a deleted project is dropped, and its webhook goes on for others', async () => {
  const delivery = newDelivery('org', 'hook');
  const now = '2026-01-01T00:00:00.000Z';
  const webhook = {
    ...{ id: 'hook', name: '', description: '', endpointUrl: 'https://example.org/' },
    ...({ status: 'ACTIVE', subscriptions: [], sealedSecret: '' } as const),
    ...{ createTime: now, updateTime: now, activeTime: now },
  };
  const admit = createAdmission({
    directory: { get: () => ({ organizationId: 'org', webhook }) },
    bucket: { ask: async () => ({ kind: 'absent' }) },
    isDeleted: (projectId) => projectId === 'gone',
  });
  expect(await admit({ ...delivery, projectId: 'gone' })).toEqual({ kind: 'drop' });
  expect(await admit(delivery)).toMatchObject({ kind: 'send' });
});
