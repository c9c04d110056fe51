// ClickHouse's own packing of what goes over HTTP, which its driver of Java asks for: blocks, each packed by itself
// and checked by a hash.
//
//   block = hash (16 bytes) of what follows, method u8, size u32 of what follows the hash, raw size u32, packed bytes

import { Transform, type TransformCallback } from 'node:stream';
import { createCityHash } from '../../../proto/wire/city-hash/city-hash.ts';
import { createLz4, type Lz4 } from '../../../proto/wire/lz4/lz4.ts';

const hashBytes = 16;
/** Of method and sizes. */
const headBytes = 9;
const methods = { none: 0x02, lz4: 0x82 } as const;
/** As ClickHouse's own buffers are. */
const maxRawBytes = 1_048_576;

interface Tools {
  lz4: Lz4;
  hash: (bytes: Uint8Array) => Uint8Array;
}

let madeTools: Tools | undefined;

/** Made when a client first wants them: a thread keeps the memory of the largest block. */
function tools(): Tools {
  madeTools ??= { lz4: createLz4(), hash: createCityHash() };
  return madeTools;
}

/** One block of at most 1 MiB. */
export function packedBlock(raw: Uint8Array): Buffer<ArrayBuffer> {
  const { lz4, hash } = tools();
  const packed = lz4.compress(raw);
  const block = Buffer.allocUnsafe(hashBytes + headBytes + packed.length);
  block.writeUInt8(methods.lz4, hashBytes);
  block.writeUInt32LE(headBytes + packed.length, hashBytes + 1);
  block.writeUInt32LE(raw.length, hashBytes + 5);
  block.set(packed, hashBytes + headBytes);
  block.set(hash(block.subarray(hashBytes)));
  return block;
}

/** What blocks hold, at most `maxBytes`; undefined where they are anything else, or packed by another method. */
export function unpackBlocks(bytes: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Buffer[] = [];
  let length = 0;
  for (let at = 0; at < view.length; ) {
    const block = blockAt(view, at, maxBytes - length);
    if (block === undefined) return undefined;
    parts.push(block.raw);
    length += block.raw.length;
    at = block.end;
  }
  return Buffer.concat(parts);
}

function blockAt(
  bytes: Buffer,
  at: number,
  maxBytes: number,
): { raw: Buffer; end: number } | undefined {
  const head = at + hashBytes;
  if (bytes.length < head + headBytes) return undefined;
  const size = bytes.readUInt32LE(head + 1);
  const rawSize = bytes.readUInt32LE(head + 5);
  const end = head + size;
  if (size < headBytes || end > bytes.length || rawSize > maxBytes) return undefined;
  if (Buffer.compare(tools().hash(bytes.subarray(head, end)), bytes.subarray(at, head)) !== 0) {
    return undefined;
  }
  const packed = bytes.subarray(head + headBytes, end);
  const raw = unpacked(bytes.readUInt8(head), packed, rawSize);
  return raw && { raw, end };
}

function unpacked(method: number, packed: Buffer, rawSize: number): Buffer | undefined {
  switch (method) {
    case methods.lz4: {
      const raw = tools().lz4.decompress(packed, rawSize);
      return raw && Buffer.from(raw);
    }
    case methods.none:
      return packed.length === rawSize ? packed : undefined;
    default:
      return undefined;
  }
}

/** Makes blocks of bytes as they come, so that the first rows are sent at once. */
export class BlockPacker extends Transform {
  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    for (let at = 0; at < chunk.length; at += maxRawBytes) {
      this.push(packedBlock(chunk.subarray(at, at + maxRawBytes)));
    }
    done();
  }
}
