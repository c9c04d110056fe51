import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { changedFiles, reachOf, touchesBenches } from './changes.mjs';

function newClone() {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-clone-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const git = (...words: string[]) =>
    execFileSync('git', [...author, ...words], { cwd: directory, stdio: 'ignore' });
  const write = (...names: string[]) => {
    for (const name of names) writeFileSync(join(directory, name), `${Math.random()}`);
  };
  const commit = (...names: string[]) => {
    write(...names);
    git('add', '--all');
    git('commit', '--message', 'm');
  };
  git('init', '--initial-branch', 'main');
  commit('a', 'b', 'c', 'd');
  return { directory, git, write, commit };
}

it('changes are what the branch has committed, what is uncommitted, and new files', () => {
  const { directory, git, write, commit } = newClone();
  git('checkout', '-b', 'change');
  commit('a');
  git('checkout', 'main');
  commit('c');
  git('checkout', 'change');
  write('b', 'new');
  expect(changedFiles(directory)?.toSorted()).toEqual(['a', 'b', 'new']);
});

it('on the main branch itself they are what is uncommitted', () => {
  const { directory, write } = newClone();
  expect(changedFiles(directory)).toEqual([]);
  write('d');
  expect(changedFiles(directory)).toEqual(['d']);
});

it('are not known without a main branch, or without git', () => {
  const { directory, git } = newClone();
  git('branch', '--move', 'main', 'other');
  expect(changedFiles(directory)).toBe(undefined);
  expect(changedFiles(join(directory, 'nowhere'))).toBe(undefined);
});

it('a change reaches whoever imports it, each at its distance', () => {
  const reach = reachOf(['platform/clickhouse/server-url.ts']);
  expect(reach.get('platform/clickhouse/server-url.ts')).toBe(0);
  expect(reach.get('platform/clickhouse/clickhouse.ts')).toBe(1);
  expect(reach.get('platform/clickhouse/clickhouse.test.ts')).toBe(2);
  expect(reach.has('platform/clock.ts')).toBe(false);
});

it('a file that is no source reaches whoever names it or its folder, a document nobody', () => {
  expect(reachOf(['sql/engine/users.xml']).has('test/harness/compiled-entries.ts')).toBe(true);
  expect(reachOf(['sql/migrations/0001_events.sql']).has('sql/migrate.ts')).toBe(true);
  expect(reachOf(['README.md']).size).toBe(0);
});

it.each([
  ['a bench', ['bench/run.ts'], true],
  ['what benches import', ['docs/insights.md', 'ingest/rpc/batch-create.ts'], true],
  ['how tests run', ['.ci/run'], true],
  ['nothing: all others have it', [], true],
  ['nobody knows what', undefined, true],
  ['a page and a document', ['web/main.tsx', 'bench/README.md'], false],
])('the benches run where %s is changed: %j', (_, changed, expected) => {
  expect(touchesBenches(changed)).toBe(expected);
});
