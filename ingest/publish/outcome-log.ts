// Tells the operator when the broker stops taking frames and when it takes them again: one line for each change, and at
// most one a second, because the outcome may change with each of thousands of frames.

import type { Log } from '../../platform/log.ts';
import type { FrameReport } from './publish.ts';

const quietMs = 1_000;

export function createOutcomeLog(
  log: Pick<Log, 'warn' | 'info'>,
): (frame: Pick<FrameReport, 'outcome'>) => void {
  let last = 'stored';
  let lastMs = Number.NEGATIVE_INFINITY;
  return ({ outcome }) => {
    if (outcome.kind === last || performance.now() < lastMs + quietMs) return;
    last = outcome.kind;
    lastMs = performance.now();
    switch (outcome.kind) {
      case 'stored':
        log.info('events are queued again');
        break;
      case 'full':
        log.warn('the queue of events is full: requests are refused until the pipeline catches up');
        break;
      case 'unavailable':
        log.warn({ reason: outcome.reason }, 'events cannot be queued');
        break;
      default:
        outcome satisfies never;
    }
  };
}
