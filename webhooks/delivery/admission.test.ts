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
