// What a trick is: one thing that the product does for speed, and the obvious way of doing the same. Both are run in
// turns over the smallest part of the chain that the trick matters to, everything else being equal.

import type { IngestService } from '../../test/harness/services/ingest-service.ts';
import type { Mode } from '../bench.ts';
import { type Contender, comparePairs, type Spread } from '../harness/pairs.ts';

export interface Trick {
  name: string;
  /** The obvious way. */
  instead: string;
  /** The part of the chain whose CPU is counted. */
  over: string;
  batch: number;
  /** `service` is there for those that need HTTP or a broker. Throws where either way loses an event. */
  measure(mode: Mode, service: IngestService): Promise<Measured>;
}

export interface Measured {
  /** CPU microseconds an event. */
  onUs: number;
  offUs: number;
  /** Off over on: how many times the obvious way's CPU is that of the trick. */
  ratio: Spread;
}

/** Both do the same work; each returns how many events came through, which must be `events`. */
export interface Contest {
  on: Contender;
  off: Contender;
  events: number;
  othersCpuMs?: () => number;
}

export const pairsOf = {
  smoke: { pairs: 1, warmUps: 0 },
  real: { pairs: 7, warmUps: 1 },
} as const;

export async function compareWays(contest: Contest, mode: Mode): Promise<Measured> {
  const { on, off, events, othersCpuMs = () => 0 } = contest;
  const pairing = await comparePairs(on, off, { ...pairsOf[mode], othersCpuMs });
  const { subjectResult, calibrationResult, subjectCpuMs, calibrationCpuMs, ratio } = pairing;
  if (subjectResult !== events || calibrationResult !== events) {
    throw new Error(`of ${events} events came ${subjectResult} and ${calibrationResult}`);
  }
  const onUs = (1_000 * subjectCpuMs) / events;
  return { onUs, offUs: (1_000 * calibrationCpuMs) / events, ratio };
}
