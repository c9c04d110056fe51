// Validation of a BatchCreate body against JSON.parse of the same bytes, the least that any validation in plain
// JavaScript has to do. No HTTP, no queue.

import { createHash, type Hash } from 'node:crypto';
import { type Size, sizes } from '../../../demo/visits/sized-events.ts';
import { scanJsonBody } from '../../../ingest/validation/text/scan-body.ts';
import { dayMs } from '../../../platform/clock.ts';
import { maxBodyBytes } from '../../../platform/limits.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import { type Bench, check } from '../../bench.ts';
import { comparePairs, type Pairing } from '../../harness/pairs.ts';

interface Parameters {
  /** One run goes through the bodies `rounds` times. */
  cells: { size: Size; batch: number; rounds: number }[];
  /** Events in the distinct bodies. */
  events: number;
  pairs: number;
  warmUps: number;
}

const smoke: Parameters = {
  cells: sizes.map((size) => ({ size, batch: 10, rounds: 1 })),
  ...{ events: 100, pairs: 2, warmUps: 0 },
};
// A run takes 20 ms of validation or more: in runs of 4 ms, collecting JSON.parse's garbage took half.
const realRounds: Readonly<Record<Size, number>> = { small: 36, medium: 12, large: 6 };
const real: Parameters = {
  cells: sizes.flatMap((size) =>
    [1, 100, 1_000].map((batch) => ({ size, batch, rounds: realRounds[size] })),
  ),
  ...{ events: 4_000, pairs: 9, warmUps: 2 },
};

const seed = 2;
// A fixed time, so that every run validates the same bytes by the same clock.
const nowMs = Date.UTC(2026, 10, 20, 12);
const context = { receiveTimeMs: nowMs, maxBodyBytes, maxAgeMs: 30 * dayMs };

export const validateBench: Bench = {
  name: 'validate',
  question: 'What does validating an event cost, beside JSON.parse of the same body?',
  async run(mode) {
    const parameters = mode === 'smoke' ? smoke : real;
    const rows: string[][] = [];
    const hash = createHash('sha256');
    for (const { size, batch, rounds } of parameters.cells) {
      const count = Math.ceil(parameters.events / batch);
      const bodies = makeBodies({ size, batch, count, seed, nowMs }).map(({ bytes }) => bytes);
      checkVerdicts(bodies, batch);
      const pairing = await compare(bodies, rounds, parameters);
      const events = bodies.length * batch * rounds;
      check(pairing.subjectResult === events, `${events} events are valid`);
      check(pairing.calibrationResult === events, `${events} events are parsed`);
      hashResults(bodies, hash);
      rows.push(rowOf(size, batch, pairing, events));
    }
    return { tables: [{ title, columns, rows }], resultHash: hash.digest('hex') };
  },
};

const title = 'Validation of a body (subject) and JSON.parse of it (calibration), one thread';
const columns = [
  ...['size', 'batch', 'subject ev/s', 'us/event', 'calibration ev/s', 'us/event'],
  ...['ratio', 'min', 'max'],
];

function compare(
  bodies: Buffer[],
  rounds: number,
  { pairs, warmUps }: Parameters,
): Promise<Pairing> {
  const subject = { run: () => total(bodies, rounds, validate) };
  const calibration = { run: () => total(bodies, rounds, parse) };
  return comparePairs(subject, calibration, { pairs, warmUps });
}

function total(bodies: Buffer[], rounds: number, countEvents: (body: Buffer) => number): number {
  let events = 0;
  for (let round = 0; round < rounds; round++) {
    for (const body of bodies) events += countEvents(body);
  }
  return events;
}

function validate(body: Buffer): number {
  const read = scanJsonBody(body, context);
  return read.kind === 'valid' ? read.events : 0;
}

function parse(body: Buffer): number {
  const { events }: { events: unknown[] } = JSON.parse(body.toString());
  return events.length;
}

function hashResults(bodies: readonly Buffer[], hash: Hash): void {
  for (const body of bodies) {
    const read = scanJsonBody(body, context);
    hash.update(read.kind === 'valid' ? read.body : read.violation.rule);
  }
}

/** A validator that accepts everything would be fast: one broken event in each body must be found. */
function checkVerdicts(bodies: readonly Buffer[], batch: number): void {
  for (const [index, body] of bodies.slice(0, 5).entries()) {
    const broken = Buffer.from(body);
    const victim = (index * 7) % batch;
    let at = -1;
    for (let event = 0; event <= victim; event++) at = broken.indexOf('"eventId":"', at + 1);
    broken.write('?', at + 15);
    const read = scanJsonBody(broken, context);
    const found = read.kind === 'invalid' && read.violation.index === victim;
    check(found, `the broken id of event ${victim} is found`);
  }
}

function rowOf(size: Size, batch: number, pairing: Pairing, events: number): string[] {
  const speed = (cpuMs: number): string[] => [
    Math.round((1_000 * events) / cpuMs).toLocaleString('en-US'),
    ((1_000 * cpuMs) / events).toFixed(2),
  ];
  const { subjectCpuMs, calibrationCpuMs, ratio } = pairing;
  const ratios = [ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(2));
  return [size, String(batch), ...speed(subjectCpuMs), ...speed(calibrationCpuMs), ...ratios];
}
