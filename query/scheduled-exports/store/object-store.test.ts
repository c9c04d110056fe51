// Requests to a bucket against a server that works signatures out by itself, over real sockets; the words for whatever
// goes wrong; and that nobody is led into a network that the operator has not opened.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemInternet } from '../../../platform/mail/internet.ts';
import { networks } from '../../../platform/private-networks.ts';
import {
  type S3Server,
  s3Key,
  s3Region,
  startS3Server,
} from '../../../test/harness/exports/s3-server.ts';
import { listen } from '../../../test/harness/listen.ts';
import { type ObjectStore, type OpenTarget, openObjectStore } from './object-store.ts';
import { bodyOf, putAndReadBack, sha256Of } from './read-back.ts';

const loopback = networks(['127.0.0.0/8']);
const { signal } = new AbortController();
const key = 'a b/day=2026-11-27/ü é+(1)*.parquet';
let server: S3Server;
const opened: ObjectStore[] = [];

const open = (changes: Partial<OpenTarget> = {}, allowed: BlockList = loopback): ObjectStore => {
  const target = {
    ...{ endpoint: server.url, region: s3Region, bucket: 'bucket', prefix: '', isPathStyle: true },
    ...s3Key,
    ...changes,
  };
  const store = openObjectStore(target, { allowed, internet: systemInternet });
  opened.push(store);
  return store;
};

beforeAll(async () => {
  server = await startS3Server('bucket');
});
beforeEach(() => {
  server.files.clear();
  server.requests.length = 0;
  server.fault = () => undefined;
});
afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()));
  await server.close();
});

describe('a bucket', () => {
  it('takes bytes and files under any key, tells of them, and gives them back', async () => {
    const store = open();
    const body = bodyOf('what is sent');
    await putAndReadBack(store, key, body, signal);
    expect(server.files.get(key)?.data.toString()).toBe('what is sent');
    expect(await store.head(key, signal)).toEqual({ bytes: 12, sha256: body.sha256 });
    const directory = mkdtempSync(join(tmpdir(), 'millrace-store-'));
    const data = Buffer.alloc(9 * 1_048_576, 7);
    const path = join(directory, 'large');
    writeFileSync(path, data);
    const large = { path, bytes: data.length, sha256: sha256Of(data) };
    await putAndReadBack(store, 'large', large, signal);
    rmSync(directory, { recursive: true });
    expect(server.files.get('large')?.data.equals(data)).toBe(true);
    expect(server.requests.slice(-2).map(({ method }) => method)).toEqual(['PUT', 'HEAD']);
    await store.delete(key, signal);
    await store.delete(key, signal);
    expect(await store.head(key, signal)).toBeUndefined();
    expect(await store.get(key, 100, signal)).toBeUndefined();
  });

  it('is the first part of a host’s name', async () => {
    const internet = { ...systemInternet, resolve: async () => [{ address: '127.0.0.1' }] };
    const endpoint = `http://storage.test:${server.port}`;
    const target = { ...s3Key, endpoint, region: s3Region, bucket: 'bucket', prefix: '' };
    const store = openObjectStore(
      { ...target, isPathStyle: false },
      { allowed: loopback, internet },
    );
    opened.push(store);
    await putAndReadBack(store, key, bodyOf('by host'), signal);
    expect(server.files.get(key)?.data.toString()).toBe('by host');
  });

  it('that keeps other bytes than were sent is found out', async () => {
    server.fault = ({ method }) => (method === 'PUT' ? 'corrupt' : undefined);
    await expect(putAndReadBack(open(), key, bodyOf('what is sent'), signal)).rejects.toThrow(
      'a file there is larger than what was written',
    );
    const data = Buffer.alloc(9 * 1_048_576, 7);
    const large = { data, bytes: data.length, sha256: sha256Of(data) };
    await expect(putAndReadBack(open(), key, large, signal)).rejects.toThrow(
      'a file is there otherwise than it was sent',
    );
  });

  it('refuses bytes of another hash', async () => {
    const body = { ...bodyOf('what is sent'), sha256: sha256Of(Buffer.from('other bytes')) };
    await expect(open().put(key, body, signal)).rejects.toThrow('the bytes arrived otherwise');
    expect(server.files.size).toBe(0);
  });
});

describe('what went wrong is told in words', () => {
  const put = (store: ObjectStore) => store.put(key, bodyOf('x'), signal);
  it.each<[string, Partial<OpenTarget>, string]>([
    ['secret', { secret: 'another' }, 'the secret access key is not the one of the access key id'],
    ['key', { accessKeyId: 'another' }, 'the access key id is not known there'],
    ['region', { region: 'us-east-1' }, 'the region is not the one of the bucket'],
    ['bucket', { bucket: 'other' }, 'there is no such bucket (404 NoSuchBucket)'],
  ])('%s', async (_, changes, words) => {
    await expect(put(open(changes))).rejects.toThrow(words);
  });

  it.each<[number, string, string]>([
    [403, 'AccessDenied', 'the key may not write files there (403 AccessDenied)'],
    [503, 'SlowDown', 'the endpoint asks to slow down (503 SlowDown)'],
    [307, 'Else', 'the bucket is in another region or at another endpoint (307 Else)'],
    [500, '<b>', 'the endpoint refused to write a file (500)'],
  ])('status %i %s', async (status, code, words) => {
    server.fault = () => ({ status, code });
    await expect(put(open())).rejects.toThrow(words);
  });

  it('a connection that breaks off, and an end of the caller', async () => {
    server.fault = () => 'break off';
    await expect(put(open())).rejects.toThrow('the connection to the endpoint broke off');
    const ending = new AbortController();
    server.fault = () => {
      ending.abort(new Error('the process ends'));
      return new Promise(() => {});
    };
    await expect(open().get(key, 1, ending.signal)).rejects.toThrow('the process ends');
  });
});

describe('an endpoint', () => {
  const unreached = 'no connection to the endpoint came about';

  it('in a network that the operator has not opened is not asked', async () => {
    const store = open({}, new BlockList());
    await expect(store.get(key, 1, signal)).rejects.toThrow(unreached);
    const named = open({ endpoint: `http://localhost:${server.port}` }, new BlockList());
    await expect(named.get(key, 1, signal)).rejects.toThrow(unreached);
    expect(server.requests).toEqual([]);
  });

  it('that sends elsewhere is not followed', async () => {
    const moved = createServer((_, response) => {
      response.writeHead(302, { location: `${server.url}/bucket/x` }).end();
    });
    const port = await listen(moved);
    const store = open({ endpoint: `http://127.0.0.1:${port}` });
    await expect(store.get(key, 1, signal)).rejects.toThrow('at another endpoint (302)');
    expect(server.requests).toEqual([]);
    moved.close();
    moved.closeAllConnections();
  });
});
