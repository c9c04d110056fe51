// A trick is one thing that the product does for speed; its reference is the simplest code with the same result. They
// run in turns over the smallest part of the chain that the trick matters to, everything else being equal.

import type { IngestService } from '../../test/harness/services/ingest-service.ts';
import type { Mode } from '../bench.ts';
import { type Contender, comparePairs, type Spread } from '../harness/pairs.ts';

export interface Trick {
  name: string;
  /** The code that stands in for the trick, as the table names it. */
  reference: string;
  /** The part of the chain whose CPU is counted. */
  over: string;
  batch: number;
  /** `service` is for tricks that need HTTP or a broker. Throws where the trick or its reference loses an event. */
  measure(mode: Mode, service: IngestService): Promise<Measured>;
}

export interface Measured {
  /** CPU microseconds an event. */
  trickUs: number;
  referenceUs: number;
  /** The reference's CPU over the trick's: above 1 the trick gains. */
  ratio: Spread;
}

/** Both do the same work; each returns the number of events that came through, which must be `events`. */
interface Comparison {
  trick: Contender;
  reference: Contender;
  events: number;
  othersCpuMs?: () => number;
}

export const pairsOf = {
  smoke: { pairs: 1, warmUps: 0 },
  real: { pairs: 7, warmUps: 1 },
} as const;

export async function compareWithReference(comparison: Comparison, mode: Mode): Promise<Measured> {
  const { trick, reference, events, othersCpuMs = () => 0 } = comparison;
  const pairing = await comparePairs(trick, reference, { ...pairsOf[mode], othersCpuMs });
  const { subjectResult, calibrationResult, subjectCpuMs, calibrationCpuMs, ratio } = pairing;
  if (subjectResult !== events || calibrationResult !== events) {
    throw new Error(`of ${events} events came ${subjectResult} and ${calibrationResult}`);
  }
  const trickUs = (1_000 * subjectCpuMs) / events;
  return { trickUs, referenceUs: (1_000 * calibrationCpuMs) / events, ratio };
}
