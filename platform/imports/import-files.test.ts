import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, it } from 'vitest';
import {
  type Import,
  ImportSchema,
  ImportState,
} from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { ImportFiles, withState } from './import-files.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-import-files-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const files = new ImportFiles(dataDir);

const record = (n: number): Import =>
  create(ImportSchema, {
    ...{ id: `import-${n}`, bytes: 3n, state: ImportState.UPLOADING },
    createTime: timestampFromMs(n),
  });
const ids = async (project: string): Promise<string[]> =>
  (await files.list(project)).map(({ id }) => id);

it('one import of a project is under way, whoever else begins at that moment', async () => {
  const begun = await Promise.all([1, 2, 3, 4].map((n) => files.begin('one', record(n))));
  expect(begun.filter(Boolean)).toHaveLength(1);
  expect(await files.begin('two', record(5))).toBe(true);
  expect(await files.liveProjects()).toEqual(['one', 'two']);
});

it('a file grows where the next part begins where it ends', async () => {
  await files.begin('parts', record(1));
  const live = await files.findLive('parts');
  if (live === undefined) throw new Error('nothing is under way');
  const append = (offset: bigint, text: string) => files.append(live, offset, Buffer.from(text));
  expect(await append(0n, 'ab')).toEqual({ kind: 'appended', bytes: 2 });
  expect(await append(0n, 'ab')).toEqual({ kind: 'elsewhere', bytes: 2 });
  expect(await append(2n, 'c')).toEqual({ kind: 'appended', bytes: 3 });
  const whole = await files.findLive('parts');
  expect(whole?.record.uploadedBytes).toBe(3n);
  expect(whole).toMatchObject({ isStarted: false, isCanceled: false });
  await files.mark(live, 'canceled');
  expect(await files.findLive('parts')).toMatchObject({ isCanceled: true });
});

it('imports of several projects that end at one moment are all removed', async () => {
  const projects = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (let round = 0; round < 50; round++) {
    for (const project of projects) await files.begin(project, record(round));
    await Promise.all(projects.map((project) => files.end(project, record(round))));
    expect((await files.liveProjects()).filter((name) => projects.includes(name))).toEqual([]);
  }
});

it('what comes for one that has ended meets nothing of the next', async () => {
  await files.begin('late', record(1));
  const before = await files.findLive('late');
  if (before === undefined) throw new Error('nothing is under way');
  await files.end('late', record(1));
  await files.mark(before, 'canceled');
  await files.begin('late', record(2));
  await files.mark(before, 'canceled');
  expect(await files.append(before, 0n, Buffer.from('a'))).toEqual({ kind: 'gone' });
  const after = await files.findLive('late');
  expect(after).toMatchObject({ isCanceled: false });
  expect(after?.record.uploadedBytes).toBe(0n);
});

it('ten that ended are kept, the newest first, and none of their files', async () => {
  for (let n = 0; n < 12; n++) {
    await files.begin('many', record(n));
    await files.end('many', withState(record(n), { state: ImportState.DONE }));
  }
  expect(await ids('many')).toEqual(Array.from({ length: 10 }, (_, n) => `import-${11 - n}`));
  expect(existsSync(files.uploadPath('many', record(11)))).toBe(false);
});

it('one whose end was broken off before its file was removed is there once', async () => {
  await files.begin('broken', record(1));
  await files.end('broken', record(1));
  await files.begin('broken', record(1));
  expect(await ids('broken')).toEqual(['import-1']);
  expect(await files.isEnded('broken', record(1))).toBe(true);
  await files.remove('broken');
  expect(await files.findLive('broken')).toBeUndefined();
  expect(await ids('broken')).toEqual(['import-1']);
});
