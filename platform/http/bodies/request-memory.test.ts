// Who may hold how much: greedy keys, strangers, small requests; and bodies in tiny pieces.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { GatheredBytes } from './gathered-bytes.ts';
import { Inflations } from './inflations.ts';
import { Lease, RequestMemory } from './request-memory.ts';

const MiB = 1_048_576;

function leaseOf(memory: RequestMemory, holder: string): Lease {
  const lease = new Lease(memory);
  lease.claim(holder);
  return lease;
}

/** Takes as often as there is room, each time for another request; returns the bytes. */
function takeAll(memory: RequestMemory, holder: string, bytes: number): number {
  let taken = 0;
  while (leaseOf(memory, holder).take(bytes)) taken += bytes;
  return taken;
}

describe('room', () => {
  it('is left to others by one greedy key, and by many', () => {
    const memory = new RequestMemory(100 * MiB);
    expect(takeAll(memory, 'greedy', MiB)).toBe(50 * MiB);
    for (let key = 0; key < 5; key++) takeAll(memory, `greedy ${key}`, MiB);
    expect(leaseOf(memory, 'modest').take(MiB / 2)).toBe(true);
  });

  it('is there for the small requests of a key that holds all it may', () => {
    const memory = new RequestMemory(100 * MiB);
    takeAll(memory, 'greedy', MiB);
    const small = leaseOf(memory, 'greedy');
    expect(small.take(4_096)).toBe(true);
    expect(small.take(1)).toBe(false);
  });

  it('of strangers is little, and large bodies leave a part of it to sign-ins', () => {
    const memory = new RequestMemory(100 * MiB);
    expect(takeAll(memory, '', MiB)).toBe(8 * MiB);
    expect(takeAll(memory, '', 1_024)).toBe(8 * MiB);
    expect(leaseOf(memory, 'a key').take(8 * MiB)).toBe(true);
  });

  it('ends for all with the whole', () => {
    const memory = new RequestMemory(10_000);
    expect(takeAll(memory, 'a key', 1_000)).toBe(10_000);
    expect(leaseOf(memory, 'another').take(1)).toBe(false);
  });
});

describe('a lease', () => {
  it('gives all of it back in the end, and may be used again', async () => {
    const memory = new RequestMemory();
    const lease = leaseOf(memory, 'a key');
    for (let request = 0; request < 3; request++) {
      const freed = lease.allocate(200_000);
      lease.allocate(131_072);
      lease.take(7);
      if (freed !== undefined) lease.free(freed);
      expect(memory.heldBytes).toBe(131_079);
      expect(() => lease.claim('another')).toThrow('cannot change hands');
      lease.end();
      expect(memory.heldBytes).toBe(0);
    }
    await expect(memory.during((held) => Promise.reject(held.take(5)))).rejects.toBe(true);
    expect(memory.heldBytes).toBe(0);
  });
});

it('what strangers hold counts to the key that is found in it, where the key has room', () => {
  const memory = new RequestMemory();
  const lease = new Lease(memory);
  expect(lease.take(8 * MiB)).toBe(true);
  expect(new Lease(memory).take(MiB)).toBe(false);
  expect(lease.handOver('a key')).toBe(true);
  expect(lease.holder).toBe('a key');
  expect(new Lease(memory).take(MiB)).toBe(true);
  lease.end();
  expect(memory.heldBytes).toBe(MiB);

  const small = new RequestMemory(10);
  const held = new Lease(small);
  const other = leaseOf(small, 'other');
  expect([held.take(6), other.take(4)]).toEqual([true, true]);
  expect(held.handOver('a key')).toBe(true);
  held.end();
  expect(small.heldBytes).toBe(4);
});

it('a body of single bytes costs no more memory than another', () => {
  const memory = new RequestMemory();
  const gathered = new GatheredBytes(leaseOf(memory, 'a key'), MiB);
  const piece = Buffer.from('x');
  for (let byte = 0; byte < 100_000; byte++) gathered.add(piece);
  expect(gathered.bytes().toString()).toBe('x'.repeat(100_000));
  expect(memory.heldBytes).toBeLessThan(200_001);
});

it('holders decompress in turn, however much one of them wants', async () => {
  const memory = new RequestMemory();
  const inflations = new Inflations();
  const large = gzipSync(Buffer.alloc(MiB));
  let ended = 0;
  const inflate = (holder: string): Promise<string> =>
    memory.during(async (lease) => {
      lease.claim(holder);
      const { kind } = await inflations.inflate('gzip', large, lease, MiB);
      ended++;
      return kind;
    });
  const greedy = Array.from({ length: 40 }, () => inflate('greedy'));
  expect(await inflate('modest')).toBe('received');
  // Those that had begun, and one turn of each holder.
  expect(ended).toBeLessThan(10);
  expect(new Set(await Promise.all(greedy))).toEqual(new Set(['received']));
  expect(memory.heldBytes).toBe(0);
});
