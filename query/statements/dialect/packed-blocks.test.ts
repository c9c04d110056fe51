// ClickHouse's packed blocks against blocks that ClickHouse wrote: the hashes and hex texts here are from Debian's
// clickhouse-compressor 18.16.

import { describe, expect, it } from 'vitest';
import { packedBlock, unpackBlocks } from './packed-blocks.ts';

const sample = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, at) => ((at * at * 7 + at) >>> 3) & 255));
const statement = `SELECT ${'kind, '.repeat(20)}1`;
const ofLz4 = Buffer.from(
  'bdac72c8c4f310b0114acef1e5909326821f00000080000000cf53454c454354206b696e642c06005c506e642c2031',
  'hex',
);
const notPacked = Buffer.from(
  'e6a16b4f4243468cf86313b48c09390702110000000800000053454c4543542031',
  'hex',
);
const ofZstd = Buffer.from(
  'bf450285d83a51c54900c12d30dff78d90260000008000000028b52ffd2080a500006853454c454354206b696e642c31010030694902',
  'hex',
);
/** By the number of bytes of `sample`, which `clickhouse-compressor --none` packed. */
const hashes: [length: number, hash: string][] = [
  [1, '5bc54ebb7942a625172e851e65e0601d'],
  [2, '8a28d8050796d0ffd1f0008dbf1f780a'],
  [5, 'f3ef9a4de562fcb56f15cc5bfc251fff'],
  [8, '481187be6b42f3a82441b6f997b6467e'],
  [9, 'a2799c609c7430141520eda6cfd96918'],
  [10, '8ff75c5fde9312f13c0239f820d506c9'],
  [11, '1317829adbec39a48146f40ab0b83a36'],
  [12, '75f378927210c4a2aad6bd67c9c819de'],
  [16, '98827f6f33ebb29353fd45c06aef5a22'],
  [17, '7a4fa424e69fc5768abb732699bff67c'],
  [24, '69173ba65466ce928a51f5c73d3e0988'],
  [31, '91724c07b3eea0d443bc18dbfd472fcf'],
  [32, 'f5612f8f5e10674c820f768376e8a7b7'],
  [50, 'c06deeab4d7c509bd541fa33a67a16ab'],
  [118, '773d88e9f07b1b1d0c43c9c8e5027b06'],
  [119, '26243f454e55c96c51893512c634561c'],
  [120, 'abf07118e2eeeb0af8ae332645cf917f'],
  [135, '8a3202348ddfa74d853c15b56f203c68'],
  [136, 'dfcc5b9de7b0e75d165ef8115fc81247'],
  [170, 'f7b9dcc78ab755f63f171dbeae800e3b'],
  [250, '3e36c521ea820a1479b94b8f8871f4d9'],
  [263, '968c1cb5d1964b47c2a7109d02a3f1c1'],
  [400, '6635dc6657d9fec01b608015ec9522e9'],
  [1000, 'cd9002179d162ae99f8060692111844b'],
  [65_536, '009d149b6d68da9e61ac8e2a42f2d7dd'],
];

function plainBlock(raw: Buffer, hash: string): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt8(0x02);
  head.writeUInt32LE(9 + raw.length, 1);
  head.writeUInt32LE(raw.length, 5);
  return Buffer.concat([Buffer.from(hash, 'hex'), head, raw]);
}

const unpacked = (bytes: Uint8Array, maxBytes = 1_000_000): string | undefined => {
  const raw = unpackBlocks(bytes, maxBytes);
  return raw && Buffer.from(raw).toString();
};

describe('packed blocks', () => {
  it.each(hashes)('of %d bytes have the hash that ClickHouse gives them', (length, hash) => {
    const raw = sample(length);
    const block = plainBlock(raw, hash);
    expect(Buffer.compare(unpackBlocks(block, length) ?? Buffer.of(), raw)).toBe(0);
    block[block.length - 1] = Number(block.at(-1)) ^ 1;
    expect(unpackBlocks(block, length)).toBeUndefined();
  });

  it('that ClickHouse wrote are read, one behind another', () => {
    expect(unpacked(ofLz4)).toBe(statement);
    expect(unpacked(Buffer.concat([ofLz4, notPacked]))).toBe(`${statement}SELECT 1`);
    expect(unpacked(Buffer.of())).toBe('');
  });

  it('are made as they are read', () => {
    for (const length of [1, 20, 300, 1_048_576]) {
      const raw = sample(length);
      const block = packedBlock(raw);
      expect(block.readUInt8(16)).toBe(0x82);
      expect(Buffer.compare(unpackBlocks(block, length) ?? Buffer.of(), raw)).toBe(0);
    }
  });

  it('are refused where they are cut, too large, or of another method', () => {
    expect(unpacked(ofLz4.subarray(0, 24))).toBeUndefined();
    expect(unpacked(ofLz4.subarray(0, ofLz4.length - 1))).toBeUndefined();
    expect(unpacked(ofLz4, statement.length - 1)).toBeUndefined();
    expect(unpacked(Buffer.concat([ofLz4, ofLz4]), 2 * statement.length - 1)).toBeUndefined();
    expect(unpacked(ofZstd)).toBeUndefined();
    expect(unpacked(Buffer.from('SELECT 1, and more text than a head has'))).toBeUndefined();
  });
});
