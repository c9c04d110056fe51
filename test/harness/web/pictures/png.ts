// The pixels of a PNG as a browser writes it: eight bits a channel, not interlaced.
// Source: https://www.w3.org/TR/png-3/, chunks (5.3), filters (9.2).

import { inflateSync } from 'node:zlib';

type Rgb = readonly [number, number, number];

export interface Picture {
  width: number;
  height: number;
  /** Throws beyond the edge. */
  at(x: number, y: number): Rgb;
}

/** Throws where the file is of another kind. */
export function pictureOf(file: Buffer): Picture {
  const parts = new Map<string, Buffer[]>();
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const name = file.toString('latin1', at + 4, at + 8);
    parts.set(name, [...(parts.get(name) ?? []), file.subarray(at + 8, at + 8 + length)]);
    at += length + 12;
  }
  const head = parts.get('IHDR')?.[0];
  const channels = new Map([
    [2, 3],
    [6, 4],
  ]).get(head?.[9] ?? -1);
  if (file.toString('latin1', 1, 4) !== 'PNG' || !head || head[8] !== 8 || head[12] !== 0)
    throw new Error('not a PNG of eight bits a channel in one pass');
  if (channels === undefined) throw new Error(`the colour type ${head[9]} is not read here`);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const bytes = unfiltered(
    inflateSync(Buffer.concat(parts.get('IDAT') ?? [])),
    width * channels,
    channels,
  );
  return {
    ...{ width, height },
    at(x, y) {
      if (x < 0 || y < 0 || x >= width || y >= height) throw new Error(`no pixel at ${x}, ${y}`);
      const place = (y * width + x) * channels;
      return [bytes[place] ?? 0, bytes[place + 1] ?? 0, bytes[place + 2] ?? 0];
    },
  };
}

function unfiltered(filtered: Buffer, rowBytes: number, step: number): Buffer {
  const rows = Math.floor(filtered.length / (rowBytes + 1));
  const bytes = Buffer.alloc(rows * rowBytes);
  for (let row = 0; row < rows; row++) {
    const filter = filtered[row * (rowBytes + 1)] ?? 0;
    for (let index = 0; index < rowBytes; index++) {
      const place = row * rowBytes + index;
      const left = index < step ? 0 : (bytes[place - step] ?? 0);
      const up = row === 0 ? 0 : (bytes[place - rowBytes] ?? 0);
      const corner = row === 0 || index < step ? 0 : (bytes[place - rowBytes - step] ?? 0);
      const raw = filtered[row * (rowBytes + 1) + 1 + index] ?? 0;
      bytes[place] = raw + guess(filter, left, up, corner);
    }
  }
  return bytes;
}

function guess(filter: number, left: number, up: number, corner: number): number {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4:
      return nearest(left + up - corner, left, up, corner);
    default:
      throw new Error(`no filter ${filter}`);
  }
}

/** The first of them that is nearest to the sum. */
function nearest(sum: number, left: number, up: number, corner: number): number {
  const [a, b, c] = [left, up, corner].map((one) => Math.abs(sum - one)) as [
    number,
    number,
    number,
  ];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}
