// FramePacking's choice of frames, and how it backs off while packing does not pay.

import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { decodeFrame, encodeContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { FramePacking } from './frame-packing.ts';

const context = encodeContext({ projectId: 'p', credential: 'public', receiveTimeMs: 1 });
const frameOf = (body: Uint8Array): Uint8Array => encodeFrame([{ context, body, events: 1 }]);
const regular = frameOf(Buffer.alloc(4_000, 'event'));
const random = frameOf(randomBytes(4_000));

it('packs frames that get smaller', () => {
  const packed = new FramePacking(true).pack(regular);
  expect(packed.length).toBeLessThan(500);
  expect(decodeFrame(packed)).toEqual(decodeFrame(regular));
});

it('leaves small frames and incompressible frames alone, and all frames when it is off', () => {
  const small = frameOf(Buffer.alloc(500, 'x'));
  expect(new FramePacking(true).pack(small)).toBe(small);
  expect(new FramePacking(true).pack(random)).toBe(random);
  expect(new FramePacking(false).pack(regular)).toBe(regular);
});

it('tries fewer frames while none gets smaller, and every frame after one that does', () => {
  const packing = new FramePacking(true);
  const isPacked = (frame: Uint8Array): boolean => packing.pack(frame) !== frame;
  for (let frames = 0; frames < 1_000; frames++) packing.pack(random);
  let waited = 0;
  while (!isPacked(regular)) waited++;
  expect(waited).toBeLessThanOrEqual(64);
  expect([regular, regular, random, regular, regular].map(isPacked)).toEqual([
    ...[true, true, false],
    // The incompressible frame causes one to be skipped.
    ...[false, true],
  ]);
});
