import { describe, expect, it } from 'vitest';
import {
  decodeFrame,
  encodeContext,
  encodeFrame,
  FRAME_HEADER_BYTES,
  frameEvents,
  maxFramePayloadBytes,
  packFrame,
  unpackedBytes,
} from './frame.ts';

const context = { projectId: 'p', credential: 'public', receiveTimeMs: 1 } as const;
const bodies = [Buffer.from('{"events":[]}'), Buffer.alloc(5_000, 'event'), Buffer.from('{}')];
const frame = encodeFrame(
  bodies.map((body, index) => ({ context: encodeContext(context), body, events: index })),
);

function pack(bytes: Uint8Array): Uint8Array {
  const packed = packFrame(bytes, bytes.length);
  if (packed === undefined) throw new Error('it did not get smaller');
  return packed;
}

const packed = pack(frame);
const changed = (change: (view: DataView) => void): Uint8Array => {
  const copy = packed.slice();
  change(new DataView(copy.buffer));
  return copy;
};

it('holds any text of a context', () => {
  const told = {
    ...context,
    userAgent: 'Ünïcode "\\ \u007f \u0000 猫 🐈',
    location: { city: 'Łódź' },
  };
  const [request] = decodeFrame(
    encodeFrame([{ context: encodeContext(told), body: Buffer.from('{}'), events: 0 }]),
  );
  expect(request?.context).toEqual(told);
});

describe('a packed frame', () => {
  it('is smaller and holds the same requests', () => {
    expect(packed.length).toBeLessThan(frame.length / 5);
    expect(decodeFrame(packed)).toEqual(decodeFrame(frame));
    expect(decodeFrame(packed).map(({ body }) => Buffer.from(body))).toEqual(bodies);
  });

  it('shows its events and its unpacked size in its header', () => {
    const header = packed.subarray(0, FRAME_HEADER_BYTES);
    for (const bytes of [frame, packed, header]) {
      expect(frameEvents(bytes)).toBe(3);
      expect(unpackedBytes(bytes)).toBe(frame.length);
    }
    expect(unpackedBytes(Buffer.from('no frame'))).toBe(8);
  });

  it('keeps its requests when the next frame is unpacked', () => {
    const first = decodeFrame(packed);
    decodeFrame(
      pack(
        encodeFrame([
          { context: encodeContext(context), body: Buffer.alloc(9_000, 'x'), events: 1 },
        ]),
      ),
    );
    expect(first).toEqual(decodeFrame(frame));
  });

  it('is not made where it would reach the bound', () => {
    expect(packFrame(frame, packed.length)).toBeUndefined();
    expect(packFrame(frame, packed.length + 1)).toEqual(packed);
  });

  it('whose header lies about its length is refused before memory is taken for it', () => {
    for (const rawLength of [
      0,
      1,
      frame.length,
      maxFramePayloadBytes,
      maxFramePayloadBytes + 1,
      0xffff_ffff,
    ]) {
      const lying = changed((view) => view.setUint32(4, rawLength, true));
      expect(() => decodeFrame(lying)).toThrow(RangeError);
    }
  });

  it('with any byte changed, or cut anywhere, is read or refused with a known error', () => {
    const refused = /^(frame|Unexpected|Expected|Bad|Unterminated|Invalid)|JSON/;
    for (let at = 0; at < packed.length; at++) {
      for (const bytes of [
        changed((view) => view.setUint8(at, view.getUint8(at) ^ (1 << (at % 8)))),
        packed.subarray(0, at),
      ]) {
        try {
          decodeFrame(bytes);
        } catch (error) {
          expect(String(error instanceof Error ? error.message : error)).toMatch(refused);
        }
      }
    }
    expect(() => decodeFrame(packed.subarray(0, packed.length - 1))).toThrow(RangeError);
    expect(() => decodeFrame(Buffer.concat([packed, Buffer.of(0)]))).toThrow(RangeError);
    expect(() => decodeFrame(changed((view) => view.setUint8(2, 2)))).toThrow('compression');
  });
});
