// Packing a batch for a builder, without a broker; message-source.test.ts reads and frees batches of a real one.

import { expect, it } from 'vitest';
import { packMessages } from './message-batch.ts';

const batch = {
  messages: ['abc', '', 'de'].map((text, index) => ({ seq: 7 + index, data: Buffer.from(text) })),
};

it('packs messages one after the other', () => {
  const { seqs, lengths, bytes } = packMessages(batch);
  expect([...seqs]).toEqual([7, 8, 9]);
  expect([...lengths]).toEqual([3, 0, 2]);
  expect(Buffer.from(bytes).toString()).toBe('abcde');
});

it('reuses memory that is large enough, and allocates otherwise', () => {
  const memory = new Uint8Array(6).fill(1).buffer;
  const { bytes } = packMessages(batch, memory);
  expect(bytes.buffer).toBe(memory);
  expect(Buffer.from(bytes).toString()).toBe('abcde');
  expect(packMessages(batch, new ArrayBuffer(4)).bytes.length).toBe(5);
});
