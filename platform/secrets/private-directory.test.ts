// The modes of data directories: which become private, which are left, and what is said of them.

import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makePrivate } from './private-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'millrace-private-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
function directoryOf(mode: number): string {
  const directory = join(root, String(++made));
  mkdirSync(directory);
  chmodSync(directory, mode);
  return directory;
}
const modeOf = (path: string): number => statSync(path).mode & 0o777;

it.each([0o755, 0o750, 0o711, 0o770, 0o777, 0o701])('%o becomes 0700', (mode) => {
  const directory = directoryOf(mode);
  const former = `0${mode.toString(8)}`;
  expect(makePrivate(directory)).toEqual({ kind: 'made_private', mode: former });
  expect(modeOf(directory)).toBe(0o700);
  expect(makePrivate(directory)).toEqual({ kind: 'private' });
});

it('files and directories of an earlier start do not matter, nor do files that somebody added', () => {
  const directory = directoryOf(0o755);
  for (const name of ['nats', 'clickhouse', 'mail']) mkdirSync(join(directory, name));
  for (const name of ['demo.json', 'cities.mmdb']) writeFileSync(join(directory, name), '');
  expect(makePrivate(directory).kind).toBe('made_private');
});

it('the directory that a symbolic link leads to becomes private', () => {
  const directory = directoryOf(0o755);
  const link = join(root, 'link');
  symlinkSync(directory, link);
  expect(makePrivate(link).kind).toBe('made_private');
  expect(modeOf(directory)).toBe(0o700);
});

it('a directory with other directories is left: it is not ours alone', () => {
  const directory = directoryOf(0o755);
  mkdirSync(join(directory, 'postgresql'));
  expect(makePrivate(directory)).toEqual({
    kind: 'open',
    mode: '0755',
    why: 'it holds directories that are not ours',
  });
  expect(modeOf(directory)).toBe(0o755);
});

it.runIf(process.getuid?.() === 0).each([0o755, 0o700])(
  'a directory of another user is left, and told of with the mode %o',
  (mode) => {
    const directory = directoryOf(mode);
    chownSync(directory, 12_345, 12_345);
    expect(makePrivate(directory)).toMatchObject({
      kind: 'open',
      why: 'it belongs to another user',
    });
    expect(modeOf(directory)).toBe(mode);
  },
);

it('a disk that changes no mode is told of, whether it says so or not', () => {
  const directory = directoryOf(0o755);
  expect(makePrivate(directory, () => {})).toMatchObject({
    kind: 'open',
    why: 'its disk gives every file one mode',
  });
  const refuse = () => {
    throw Object.assign(new Error('no'), { code: 'EPERM' });
  };
  expect(makePrivate(directory, refuse)).toMatchObject({
    kind: 'open',
    why: 'its mode cannot be changed (EPERM)',
  });
});
