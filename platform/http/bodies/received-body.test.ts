// The bounds of BodyReceiver on a real server: one body, all bodies at once, before and after decompression.

import { Agent, type ClientRequest, createServer, request, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listen } from '../../../test/harness/listen.ts';
import { BodyReceiver } from './received-body.ts';
import { RequestMemory } from './request-memory.ts';

const MiB = 1_048_576;
let server: Server;
let port: number;

async function serveBodies(memory: RequestMemory, maxBytes: number): Promise<void> {
  const bodies = new BodyReceiver(memory);
  server = createServer((incoming, response) => {
    void memory.during(async (lease) => {
      lease.claim('a key');
      const encoding = incoming.headers['content-encoding'] ?? 'identity';
      const received = await bodies.receive(incoming, { lease, maxBytes, encoding });
      response.end(received.kind === 'received' ? received.bytes.toString() : received.kind);
    });
  });
  port = await listen(server);
}

function close(): void {
  server.closeAllConnections();
  server.close();
}

beforeEach(() => serveBodies(new RequestMemory(2_500), 1_000));
afterEach(close);

function open(headers: Record<string, string> = {}): {
  call: ClientRequest;
  answer: Promise<string>;
} {
  const call = request({ port, host: '127.0.0.1', method: 'POST', agent: new Agent(), headers });
  const answer = new Promise<string>((resolve) => {
    call.on('error', () => resolve('cut'));
    call.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    });
  });
  return { call, answer };
}

function send(body: string | Buffer, headers: Record<string, string> = {}): Promise<string> {
  const { call, answer } = open(headers);
  call.end(body);
  return answer;
}

describe('a body', () => {
  it('of any size up to the limit arrives as it was sent', async () => {
    for (const body of ['', 'x', 'x'.repeat(1_000)]) expect(await send(body)).toBe(body);
  });

  it('past the limit is read to its end and refused', async () => {
    expect(await send('x'.repeat(1_001))).toBe('too_large');
    expect(await send('x'.repeat(60_000))).toBe('too_large');
  });

  it('that is far too large is answered before it has arrived', async () => {
    expect(await send(Buffer.alloc(5 * MiB))).toBe('too_large');
  });

  it('is bounded after decompression too', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    expect(await send(gzipSync('x'.repeat(1_000)), gzip)).toBe('x'.repeat(1_000));
    expect(await send(gzipSync('x'.repeat(1_001)), gzip)).toBe('too_large');
    expect(await send(gzipSync(Buffer.alloc(500_000)), gzip)).toBe('too_large');
    expect(await send('no gzip', gzip)).toBe('undecodable');
    expect(await send('x', { 'content-encoding': 'zstd' })).toBe('unknown_encoding');
  });
});

describe('bodies that arrive at once', () => {
  const half = 'x'.repeat(900);
  const begin = async (): Promise<ReturnType<typeof open>> => {
    const opened = open({ 'content-length': '1000' });
    await new Promise((resolve) => opened.call.write(half, resolve));
    return opened;
  };

  it('share a bound, which has room again when one ends or its sender goes away', async () => {
    const [first, second] = [await begin(), await begin()];
    await expect.poll(() => send(half)).toBe('busy');
    first.call.end('y'.repeat(100));
    expect(await first.answer).toBe(half + 'y'.repeat(100));
    expect(await send(half)).toBe(half);
    const third = await begin();
    await expect.poll(() => send(half)).toBe('busy');
    second.call.destroy();
    third.call.destroy();
    await expect.poll(() => send('x'.repeat(1_000))).toBe('x'.repeat(1_000));
  });

  it('and are longer than a MiB find room for all of themselves, or are not read', async () => {
    close();
    await serveBodies(new RequestMemory(6 * MiB), 8 * MiB);
    const { call, answer } = open({ 'content-length': String(4 * MiB) });
    call.flushHeaders();
    expect(await answer).toBe('busy');
    expect(await send(Buffer.alloc(2 * MiB))).toHaveLength(2 * MiB);
  });

  it('leave pieces that are collected before they are many', async () => {
    close();
    await serveBodies(new RequestMemory(96 * MiB), 8 * MiB);
    const collect = vi.fn();
    vi.stubGlobal('gc', collect);
    for (let body = 0; body < 8; body++) await send(Buffer.alloc(7 * MiB));
    vi.unstubAllGlobals();
    expect(collect.mock.calls).toEqual([[{ type: 'minor' }]]);
  });
});
