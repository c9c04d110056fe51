// What the scanner's second mode adds to its first: bodies judged and written into columns, against bodies judged. No
// enrichment, no Arrow.

import { slotProperties } from '../pipeline/event-row.ts';
import * as limits from '../platform/limits.ts';
import { ColumnScanner } from '../proto/wire/column-scanner.ts';
import { createScanner } from '../proto/wire/scanner.ts';
import { wellKnownKinds } from '../proto/wire/well-known-kinds.ts';
import { check, type Mode, type Table } from './bench.ts';
import { makeBodies, type Size, sizes } from './bodies.ts';
import { comparePairs } from './pairs.ts';

interface Parameters {
  batch: number;
  bodies: number;
  rounds: number;
  pairs: number;
  warmUps: number;
}

const smoke: Parameters = { batch: 10, bodies: 10, rounds: 1, pairs: 2, warmUps: 0 };
const real: Parameters = { batch: 100, bodies: 60, rounds: 20, pairs: 9, warmUps: 2 };

const seed = 4;
const nowMs = Date.UTC(2026, 10, 20, 12);

/** A row a size. */
export async function measureEmission(mode: Mode): Promise<Table> {
  const parameters = mode === 'smoke' ? smoke : real;
  const rows: string[][] = [];
  for (const size of sizes) rows.push(await measure(size, parameters));
  return {
    title: 'A body into columns: scan and emit, and validation alone',
    columns: ['size', 'batch', 'emit us/event', 'validate us/event', 'emit/validate', 'min', 'max'],
    rows,
  };
}

async function measure(size: Size, parameters: Parameters): Promise<string[]> {
  const { batch, bodies: count, rounds, pairs, warmUps } = parameters;
  const bodies = makeBodies({ size, batch, count, seed, nowMs }).map(({ bytes }) => bytes);
  const validator = createScanner(limits, wellKnownKinds);
  const columns = new ColumnScanner({
    limits,
    wellKnown: wellKnownKinds,
    properties: slotProperties,
    maxRows: batch * count + limits.maxEventsPerRequest,
    maxBytes: bodies.reduce((bytes, { length }) => bytes + length, 0),
  });
  const validate = (): number => {
    let events = 0;
    for (let round = 0; round < rounds; round++) {
      for (const body of bodies) {
        const verdict = validator.validate(body, nowMs);
        events += verdict.kind === 'ok' ? verdict.events : 0;
      }
    }
    return events;
  };
  const emit = (): number => {
    let events = 0;
    for (let round = 0; round < rounds; round++) {
      columns.clear();
      for (const body of bodies) columns.append(body, nowMs);
      events += columns.rows;
    }
    return events;
  };
  const pairing = await comparePairs({ run: validate }, { run: emit }, { pairs, warmUps });
  const events = batch * count * rounds;
  check(pairing.subjectResult === events, `${events} events are valid`);
  check(pairing.calibrationResult === events, `${events} events are rows`);
  const { subjectCpuMs, calibrationCpuMs, ratio } = pairing;
  const perEvent = (cpuMs: number): string => ((1_000 * cpuMs) / events).toFixed(2);
  const ratios = [ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(2));
  return [size, String(batch), perEvent(calibrationCpuMs), perEvent(subjectCpuMs), ...ratios];
}
