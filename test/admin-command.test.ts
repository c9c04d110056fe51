// `npm run admin` as an operator runs it: the built command on a data directory, while no instance runs there.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from './harness/source-tree.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-admin-'));
afterAll(() => rmSync(directory, { recursive: true }));

function admin(data: string, ...words: string[]) {
  const command = join(root, 'dist', 'control', 'operator', 'admin.js');
  const run = spawnSync(process.execPath, [command, '--data', join(directory, data), ...words], {
    encoding: 'utf8',
  });
  return { code: run.status, out: run.stdout, error: run.stderr };
}

it('makes a super admin, saves all records, brings them back elsewhere', () => {
  const file = join(directory, 'backup.jsonl');
  const made = admin('a', 'create-customer', '--email', 'op@example.com', '--super-admin');
  expect(made.out).toMatch(/^made super admin op@example\.com, password \S{24}\n$/);
  const saved = admin('a', 'export', file);
  expect(saved.out).toContain(`4 records are in ${file}; `);
  expect(saved.out).toContain(join(directory, 'a', 'instance-key.json'));
  expect(admin('b', 'restore', file)).toMatchObject({ code: 0, out: '4 records are back\n' });
  const again = admin('b', 'create-customer', '--email', 'op@example.com');
  expect(again).toMatchObject({ code: 1, error: 'millrace: op@example.com has an account\n' });
});

it('lists its commands where it is asked for an unknown one', () => {
  for (const words of [[], ['frob'], ['export']]) {
    const run = admin('c', ...words);
    expect(run.code).toBe(1);
    expect(run.error).toContain('no such command\nnpm run admin -- ');
  }
  expect(admin('c', '--frob').error).toContain("Unknown option '--frob'");
});
