// From frames to an Arrow stream: the pipeline's builder, all its enrichment included, against a reference of
// JSON.parse and apache-arrow's builders. One thread, no broker, no insert.

import { createHash } from 'node:crypto';
import { tableFromIPC } from 'apache-arrow';
import { type Size, sizes } from '../../../demo/visits/sized-events.ts';
import { BatchBuilder } from '../../../pipeline/build/build-batch.ts';
import type { Messages } from '../../../pipeline/build/thread-messages.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import { type Bench, check } from '../../bench.ts';
import { makeFrames } from '../../harness/frames.ts';
import { comparePairs, type Pairing } from '../../harness/pairs.ts';
import { buildReferenceStream } from '../../harness/reference-arrow.ts';

interface Parameters {
  cells: { size: Size; batch: number; events: number }[];
  pairs: number;
  warmUps: number;
}

const smoke: Parameters = {
  cells: sizes.map((size) => ({ size, batch: 10, events: 200 })),
  ...{ pairs: 2, warmUps: 0 },
};
const real: Parameters = {
  cells: [
    { size: 'small', batch: 100, events: 30_000 },
    { size: 'medium', batch: 1, events: 30_000 },
    { size: 'medium', batch: 100, events: 30_000 },
    { size: 'large', batch: 100, events: 10_000 },
  ],
  ...{ pairs: 5, warmUps: 1 },
};

const seed = 3;
const secret = Buffer.alloc(32, 7);
const nowMs = Date.UTC(2026, 10, 20, 12);

export const arrowBench: Bench = {
  name: 'arrow',
  question: 'What does it cost to turn queued events into Arrow columns?',
  async run(mode) {
    const { cells, pairs, warmUps } = mode === 'smoke' ? smoke : real;
    const rows: string[][] = [];
    const hash = createHash('sha256');
    for (const { size, batch, events } of cells) {
      const count = events / batch;
      const frames = makeFrames(makeBodies({ size, batch, count, seed, nowMs }), nowMs);
      const messages = pack(frames);
      const builder = new BatchBuilder(secret);
      checkStreams(build(builder, messages), buildReferenceStream(frames), events);
      check(builder.referenceBodies === 0, 'every body is scanned');
      hash.update(build(builder, messages));
      const subject = { run: () => build(builder, messages).length };
      const calibration = { run: () => buildReferenceStream(frames).length };
      const pairing = await comparePairs(subject, calibration, { pairs, warmUps });
      const reader = new BatchBuilder(secret, { fastPath: false });
      const reading = { run: () => build(reader, messages).length };
      const { calibrationCpuMs } = await comparePairs(subject, reading, { pairs: 3, warmUps });
      const readable = ((1_000 * calibrationCpuMs) / events).toFixed(2);
      rows.push([...rowOf(size, batch, pairing, events), readable]);
    }
    return { tables: [{ title, columns, rows }], resultHash: hash.digest('hex') };
  },
};

const title = 'Frames to an Arrow stream: the pipeline (subject), vectorFromArray (calibration)';
const columns = [
  ...['size', 'batch', 'subject ev/s', 'us/event', 'calibration ev/s', 'us/event'],
  ...['ratio', 'min', 'max', 'B/row', 'read us/event'],
];

function build(builder: BatchBuilder, messages: Messages): Uint8Array {
  builder.read(0, messages);
  const { rows, deadLetters } = builder.finish({ dropped: undefined });
  check(deadLetters.length === 0, 'nothing is refused');
  if (rows === undefined) throw new Error('the events make no rows');
  return rows.arrow;
}

function pack(frames: readonly Uint8Array[]): Messages {
  return {
    seqs: Float64Array.from(frames, (_, index) => index + 1),
    lengths: Uint32Array.from(frames, (frame) => frame.length),
    bytes: Buffer.concat(frames),
  };
}

/** Throws unless both streams have the same rows, in the columns that both derive. */
function checkStreams(subject: Uint8Array, calibration: Uint8Array, events: number): void {
  const [a, b] = [tableFromIPC(subject), tableFromIPC(calibration)];
  check(a.numRows === events && b.numRows === events, `${events} rows in both streams`);
  for (const name of ['kind', 'distinct_id', 'occur_time', 'url', 'browser', 'double_properties']) {
    const [mine, theirs] = [a.getChild(name), b.getChild(name)];
    for (const row of [0, events >> 1, events - 1]) {
      const same = JSON.stringify(mine?.get(row)) === JSON.stringify(theirs?.get(row));
      check(mine !== null && same, `${name} of row ${row} is the same in both streams`);
    }
  }
}

function rowOf(size: Size, batch: number, pairing: Pairing, events: number): string[] {
  const speed = (cpuMs: number): string[] => [
    Math.round((1_000 * events) / cpuMs).toLocaleString('en-US'),
    ((1_000 * cpuMs) / events).toFixed(2),
  ];
  const { subjectCpuMs, calibrationCpuMs, ratio, subjectResult } = pairing;
  const ratios = [ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(2));
  const bytes = Math.round(subjectResult / events);
  const speeds = [...speed(subjectCpuMs), ...speed(calibrationCpuMs)];
  return [size, String(batch), ...speeds, ...ratios, String(bytes)];
}
