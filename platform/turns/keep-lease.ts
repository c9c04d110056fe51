// Keeps a lease while something runs that takes longer, and looks whether somebody has ended what it works on.

import type { Log } from '../log.ts';
import { type HeldRecord, type LeasedRecord, LeaseLost } from './held-record.ts';

export interface KeptLease {
  /** Aborted where the lease is lost, somebody has ended it, or the process ends. */
  signal: AbortSignal;
  /** Looks whether somebody has ended it, as it does each second by itself. Throws the signal's reason then. */
  look(): void;
  /** Nothing is written by it any more. Throws LeaseLost. */
  stop(): Promise<void>;
}

interface KeepParts<T extends LeasedRecord> {
  held: HeldRecord<T>;
  /** Whether somebody has ended it, as far as memory tells. */
  isEnded(): boolean;
  /** In a log: "export". */
  noun: string;
  /** The process ends. */
  stopping: AbortSignal;
  log: Log;
}

const lookEveryMs = 1_000;

export function keepLease<T extends LeasedRecord>(parts: KeepParts<T>): KeptLease {
  const { held, isEnded, noun, stopping, log } = parts;
  const lost = new AbortController();
  let renewing: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    try {
      await held.renew();
    } catch (error) {
      if (error instanceof LeaseLost) lost.abort(error);
      // The broker may answer again before the lease ends; whoever is too late loses it at the next write.
      else log.warn({ err: error }, `the lease of the ${noun} is not renewed`);
    }
  };
  const signal = AbortSignal.any([lost.signal, stopping]);
  const look = (): void => {
    if (isEnded()) lost.abort(new LeaseLost(`the ${noun} was ended`));
  };
  const timer = setInterval(() => {
    look();
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
  }, lookEveryMs);
  return {
    signal,
    look() {
      look();
      signal.throwIfAborted();
    },
    async stop() {
      clearInterval(timer);
      await renewing;
      if (lost.signal.aborted) throw lost.signal.reason;
    },
  };
}
