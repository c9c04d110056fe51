// The scanner's two modes against each other: a body validated and written into columns, as the pipeline needs it, and
// the same body only validated, as ingest needs it. The difference is the price of the columns.

import { createHash } from 'node:crypto';
import { type Size, sizes } from '../../../demo/visits/sized-events.ts';
import { slotProperties } from '../../../pipeline/enrich/event-row.ts';
import * as limits from '../../../platform/limits.ts';
import { ColumnScanner } from '../../../proto/wire/scanner/column-scanner.ts';
import { createScanner, type Scanner } from '../../../proto/wire/scanner/scanner.ts';
import { wellKnownKinds } from '../../../proto/wire/well-known-kinds.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import { type Bench, check } from '../../bench.ts';
import { comparePairs, type Pairing } from '../../harness/pairs.ts';

interface Parameters {
  cells: { size: Size; batch: number; events: number }[];
  /** One run goes through the bodies this often. */
  rounds: number;
  pairs: number;
  warmUps: number;
}

const smoke: Parameters = {
  cells: sizes.map((size) => ({ size, batch: 100, events: 100 })),
  ...{ rounds: 1, pairs: 2, warmUps: 0 },
};
const real: Parameters = {
  cells: [
    { size: 'small', batch: 100, events: 20_000 },
    { size: 'medium', batch: 1, events: 20_000 },
    { size: 'medium', batch: 100, events: 20_000 },
    { size: 'large', batch: 100, events: 5_000 },
  ],
  ...{ rounds: 5, pairs: 9, warmUps: 2 },
};

const seed = 8;
const nowMs = Date.UTC(2026, 10, 20, 12);

export const emitBench: Bench = {
  name: 'emit',
  question: 'What does writing columns add to validating?',
  async run(mode) {
    const { cells, rounds, ...pairs } = mode === 'smoke' ? smoke : real;
    const rows: string[][] = [];
    const hash = createHash('sha256');
    const scanner = createScanner(limits, wellKnownKinds);
    for (const { size, batch, events } of cells) {
      const options = { size, batch, count: events / batch, seed, nowMs };
      const bodies = makeBodies(options).map(({ bytes }) => bytes);
      const columns = new ColumnScanner({
        ...{ limits, wellKnown: wellKnownKinds, properties: slotProperties, textsRead: [] },
        ...{ maxRows: 8_000, maxBytes: 4 << 20 },
      });
      const subject = { run: () => sum(rounds, () => emit(columns, bodies)) };
      const calibration = { run: () => sum(rounds, () => validate(scanner, bodies)) };
      const pairing = await comparePairs(subject, calibration, pairs);
      check(pairing.subjectResult === events * rounds, `${events} events become rows`);
      check(pairing.calibrationResult === events * rounds, `${events} events are valid`);
      hash.update(`${size} ${pairing.subjectResult}`);
      rows.push(rowOf(size, batch, pairing, events * rounds));
    }
    return { tables: [{ title, columns: columnNames, rows }], resultHash: hash.digest('hex') };
  },
};

const title =
  'A body validated and written into columns (subject), and only validated (calibration)';
const columnNames = [
  ...['size', 'batch', 'subject us/event', 'calibration us/event', 'ratio', 'min', 'max'],
];

/** Clears the columns where there is no room left; the pipeline does so after copying them out. */
function emit(columns: ColumnScanner, bodies: readonly Buffer[]): number {
  columns.clear();
  let rows = 0;
  for (const body of bodies) {
    if (columns.append(body, nowMs).kind !== 'full') continue;
    rows += columns.rows;
    columns.clear();
    columns.append(body, nowMs);
  }
  return rows + columns.rows;
}

function validate(scanner: Scanner, bodies: readonly Buffer[]): number {
  let events = 0;
  for (const body of bodies) {
    const verdict = scanner.validate(body, nowMs);
    if (verdict.kind === 'ok') events += verdict.events;
  }
  return events;
}

function sum(rounds: number, round: () => number): number {
  let total = 0;
  for (let index = 0; index < rounds; index++) total += round();
  return total;
}

function rowOf(size: Size, batch: number, pairing: Pairing, events: number): string[] {
  const perEvent = (cpuMs: number): string => ((1_000 * cpuMs) / events).toFixed(2);
  const { subjectCpuMs, calibrationCpuMs, ratio } = pairing;
  // The inverse of a speed ratio: the subject's time over the calibration's.
  const costs = [1 / ratio.median, 1 / ratio.max, 1 / ratio.min].map((cost) => cost.toFixed(2));
  return [size, String(batch), perEvent(subjectCpuMs), perEvent(calibrationCpuMs), ...costs];
}
