// A bucket of S3-compatible storage that others wrote, from npm: what scheduled exports ask of it is done there, and
// what is wrong is told in words. It works signatures of version 4 out by its own code.

import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemInternet } from '../../platform/mail/internet.ts';
import { networks } from '../../platform/private-networks.ts';
import {
  type ObjectStore,
  type OpenTarget,
  openObjectStore,
} from '../../query/scheduled-exports/store/object-store.ts';
import { bodyOf, putAndReadBack, sha256Of } from '../../query/scheduled-exports/store/read-back.ts';
import { tryBucket } from '../../query/scheduled-exports/store/try-bucket.ts';
import { installPackages, storagePackages } from '../harness/sdks/packages.ts';

const { signal } = new AbortController();
const opened: ObjectStore[] = [];
let folder: string;
let server: ChildProcess;
let endpoint = '';

beforeAll(async () => {
  folder = installPackages(storagePackages);
  const script = join(import.meta.dirname, '..', 'harness', 'sdks', 'storage-server.mjs');
  const child = spawn(process.execPath, [script], {
    ...{ cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] },
  });
  server = child;
  for await (const port of createInterface({ input: child.stdout })) {
    endpoint = `http://127.0.0.1:${port}`;
    break;
  }
});
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.stdin?.end();
  await ended;
  rmSync(folder, { recursive: true });
});

function open(changes: Partial<OpenTarget> = {}): ObjectStore {
  const target = {
    ...{ endpoint, region: 'eu-central-1', bucket: 'bucket', prefix: '', isPathStyle: true },
    ...{ accessKeyId: 'S3RVER', secret: 'S3RVER' },
    ...changes,
  };
  const store = openObjectStore(target, {
    ...{ allowed: networks(['127.0.0.0/8']), internet: systemInternet },
  });
  opened.push(store);
  return store;
}

it.each([
  'in/prj_1/events/day=2026-11-27/hour=13/events-0001.parquet',
  'in/prj_1/events/day=2026-11-27/hour=13/_manifest.json',
  "a b/ü é+(1)*!'.csv",
])('%s is written, read back, looked at and deleted', async (key) => {
  const store = open();
  await tryBucket(store, 'in/');
  const body = bodyOf('what is sent');
  await putAndReadBack(store, key, body, signal);
  expect(await store.head(key, signal)).toEqual({ bytes: 12, sha256: body.sha256 });
  await store.delete(key, signal);
  expect(await store.head(key, signal)).toBeUndefined();
  expect(await store.get(key, 100, signal)).toBeUndefined();
});

it('a file of many parts of the network is there whole', async () => {
  const data = Buffer.alloc(20 * 1_048_576, 7);
  const large = { data, bytes: data.length, sha256: sha256Of(data) };
  await putAndReadBack(open(), 'large', large, signal);
  const read = await open().get('large', data.length, signal);
  expect(read && sha256Of(read)).toBe(large.sha256);
});

it.each<[string, Partial<OpenTarget>]>([
  ['the secret access key is not the one of the access key id', { secret: 'wrong' }],
  ['the access key id is not known there', { accessKeyId: 'nobody' }],
  ['there is no such bucket', { bucket: 'other' }],
])('%s', async (words, changes) => {
  await expect(tryBucket(open(changes), '')).rejects.toThrow(words);
});
