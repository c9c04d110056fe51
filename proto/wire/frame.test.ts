import { describe, expect, it } from 'vitest';
import {
  decodeFrame,
  encodeContext,
  FRAME_HEADER_BYTES,
  frameEvents,
  frameProjects,
  maxFramePayloadBytes,
  packFrame,
  projectMark,
  unpackedBytes,
} from './frame.ts';
import { encodeFrame, FrameWriter } from './frame-writer.ts';

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

describe('the marks of projects', () => {
  const requestOf = (projectId: string | undefined, padding = 4_000) => ({
    context: encodeContext({ ...context, projectId: projectId ?? 'unmarked' }),
    body: Buffer.alloc(padding, 'x'),
    events: 2,
    ...(projectId !== undefined && { project: projectMark(projectId) }),
  });

  it('name each project once, in a packed frame too, whose requests stay the same', () => {
    const marked = encodeFrame([requestOf('a'), requestOf('b'), requestOf('a')]);
    const unmarked = encodeFrame(
      decodeFrame(marked).map((request) => ({
        ...request,
        context: encodeContext(request.context),
      })),
    );
    for (const bytes of [marked, pack(marked)]) {
      expect(frameProjects(bytes)).toEqual([projectMark('a'), projectMark('b')]);
      expect(decodeFrame(bytes)).toEqual(decodeFrame(unmarked));
      expect(frameEvents(bytes)).toBe(6);
    }
    expect(frameProjects(unmarked)).toEqual([]);
  });

  it('are left out where one request has none, or where there are too many projects', () => {
    expect(frameProjects(encodeFrame([requestOf('a'), requestOf(undefined)]))).toEqual([]);
    const many = Array.from({ length: 65 }, (_, n) => requestOf(`p${n}`, 10));
    expect(frameProjects(encodeFrame(many.slice(1)))).toHaveLength(64);
    expect(frameProjects(encodeFrame(many))).toEqual([]);
    expect(decodeFrame(encodeFrame(many))).toHaveLength(65);
  });

  it('are of each frame alone where one memory writes them all', () => {
    const writer = new FrameWriter(16);
    writer.append(requestOf('a'));
    expect([writer.hasRoomFor(projectMark('b')), writer.hasRoomFor(undefined)]).toEqual([
      true,
      true,
    ]);
    expect(frameProjects(writer.frame())).toEqual([projectMark('a')]);
    writer.clear();
    writer.append(requestOf('b'));
    expect(frameProjects(writer.frame())).toEqual([projectMark('b')]);
  });

  it('are none in bytes that are no frame, or that are too short for them', () => {
    const marked = Buffer.from(encodeFrame([requestOf('a', 0)]));
    marked[3] = 255;
    expect(frameProjects(marked)).toEqual([]);
    expect(() => decodeFrame(marked)).toThrow(RangeError);
    expect(frameProjects(Buffer.from('no frame'))).toEqual([]);
  });

  it('are unknown in a frame of the version before, which is read as ever', () => {
    const old = Buffer.from(encodeFrame([requestOf(undefined)]));
    old[1] = 1;
    expect(frameProjects(old)).toEqual([]);
    expect(decodeFrame(old)).toHaveLength(1);
    old[1] = 3;
    expect(() => decodeFrame(old)).toThrow('version');
  });
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
