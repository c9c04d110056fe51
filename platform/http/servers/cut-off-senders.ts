// Remembers whose HTTP/2 sessions were cut off for what they did, so that a new connection does not buy the next attack
// at once. A trusted proxy brings many callers in its sessions: it loses the session and never waits, because everybody
// behind it would.

import { setBounded } from '../../memory/bounded-map.ts';
import { senderOf } from './sender-bound.ts';

export interface CutOffOptions {
  /** How long a sender waits. */
  waitMs: number;
  /** Whether an address is a proxy that brings many callers. */
  isProxy: (address: string | undefined) => boolean;
  /** Called for a sender that comes too early. */
  onRefused: () => void;
  nowMs?: () => number;
  /** Senders that are remembered, some 100 bytes each. Beyond it the first that was cut off waits no longer. */
  maxSenders?: number;
}

export class CutOffSenders {
  readonly #options: Required<CutOffOptions>;
  /** When each may come again. In order: each waits as long as the others. */
  readonly #untilMs = new Map<string, number>();

  constructor(options: CutOffOptions) {
    this.#options = { nowMs: () => performance.now(), maxSenders: 10_000, ...options };
  }

  add(address: string | undefined): void {
    const { waitMs, isProxy, nowMs, maxSenders } = this.#options;
    if (isProxy(address)) return;
    const sender = senderOf(address ?? '');
    this.#untilMs.delete(sender);
    setBounded(this.#untilMs, sender, nowMs() + waitMs, maxSenders);
  }

  /** False where the sender comes too early. */
  admit(address: string | undefined): boolean {
    const waits = this.waits(address);
    if (waits) this.#options.onRefused();
    return !waits;
  }

  waits(address: string | undefined): boolean {
    const sender = senderOf(address ?? '');
    const untilMs = this.#untilMs.get(sender);
    if (untilMs === undefined) return false;
    if (this.#options.nowMs() < untilMs) return true;
    this.#untilMs.delete(sender);
    return false;
  }
}
