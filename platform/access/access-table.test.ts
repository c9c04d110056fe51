import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accessTable, canonicalMethod, serviceAliases } from './access-table.ts';

describe('the table of access', () => {
  it('has a row for every method that is defined, and no other', async () => {
    const folder = join(import.meta.dirname, '../../proto/gen');
    const defined: string[] = [];
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('_pb.js')) continue;
      for (const value of Object.values(await import(join(folder, path)))) {
        if (typeof value !== 'object' || value === null) continue;
        if (Reflect.get(value, 'kind') !== 'service') continue;
        const methods: { name: string }[] = Reflect.get(value, 'methods');
        for (const { name } of methods) defined.push(`${Reflect.get(value, 'typeName')}/${name}`);
      }
    }
    expect(defined.length).toBeGreaterThan(3);
    expect([...accessTable.keys()].sort()).toEqual(defined.sort());
    for (const service of serviceAliases.values()) {
      expect(defined.some((method) => method.startsWith(`${service}/`))).toBe(true);
    }
  });

  it('opens writing to every credential, reading to all but public keys, accounts to customers', () => {
    for (const [method, { credentials }] of accessTable) {
      if (method.startsWith('public.')) expect(credentials).toEqual(['none']);
      else if (method.startsWith('dashboard.')) expect(credentials).toEqual(['jwt']);
      else if (method.startsWith('sdk.') || method === 'events.v1.EventsService/BatchCreate') {
        expect(credentials).toEqual(['public-key', 'private-key', 'jwt']);
      } else expect(credentials).toEqual(['private-key', 'jwt']);
    }
  });

  it('limits the rate of all changes but those that only take away', () => {
    for (const [method, { growsRecords }] of accessTable) {
      // A part of a file belongs to an import that Create has announced, with all its bytes.
      const harmless =
        /\/(Get|List|Render|Preview|Measure|Count|Revoke|Remove|Leave|Delete|Cancel|Upload)/.test(
          method,
        );
      expect(growsRecords, method).toBe(method.startsWith('dashboard.') && !harmless);
    }
  });

  it('knows a service by either of its names', () => {
    const method = 'shared.profiles.v1.ProfilesService/Get';
    expect(canonicalMethod('profiles.v1.ProfilesService/Get')).toBe(method);
    expect(canonicalMethod(method)).toBe(method);
  });
});
