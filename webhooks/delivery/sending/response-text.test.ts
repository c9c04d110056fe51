import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { maxResponseBytes, readResponseText } from './response-text.ts';

const chunkBytes = 4_096;

/** A body without an end that tells how much of it was taken. */
function endlessBody() {
  const taken = { chunks: 0 };
  const body = new Readable({
    highWaterMark: chunkBytes,
    read() {
      taken.chunks++;
      this.push(Buffer.alloc(chunkBytes, 'x'));
    },
  });
  return { body, taken };
}

it('stops reading at the bound and destroys the rest', async () => {
  const { body, taken } = endlessBody();
  const text = await readResponseText(body, false);
  expect(text).toBe('x'.repeat(maxResponseBytes));
  expect(body.destroyed).toBe(true);
  // What the stream holds ready is read ahead: at most one chunk more.
  expect(taken.chunks).toBeLessThanOrEqual(maxResponseBytes / chunkBytes + 1);
});

it('leaves a body that ends before the bound to its connection', async () => {
  const body = Readable.from([Buffer.from('thank '), Buffer.from('you')]);
  expect(await readResponseText(body, false)).toBe('thank you');
  expect(body.readableAborted).toBe(false);
});

it('stops a compressed body at the bound too, and keeps none of it', async () => {
  const { body, taken } = endlessBody();
  expect(await readResponseText(body, true)).toBe('');
  expect(taken.chunks).toBeLessThanOrEqual(maxResponseBytes / chunkBytes + 1);
});

it('throws where the body ends before its time', async () => {
  const body = new Readable({
    read() {
      this.destroy(new Error('reset'));
    },
  });
  await expect(readResponseText(body, false)).rejects.toThrow('reset');
});
