// How many connections, sessions or streams may be open: for all, and for one sender, who could otherwise take
// everybody's. Counts only; one that is too many is closed by the server that asked.

// A proxy brings all its senders from one address, and gets by with a quarter of the bound.
const senderShare = 4;

/** A socket or a stream. */
interface Counted {
  once(event: 'close', listener: () => void): unknown;
}

export class SenderBound {
  readonly #max: number;
  readonly #maxOfSender: number;
  readonly #onRefused: () => void;
  readonly #bySender = new Map<string, number>();
  #open = 0;

  constructor(max: number, onRefused: () => void) {
    this.#max = max;
    this.#maxOfSender = Math.ceil(max / senderShare);
    this.#onRefused = onRefused;
  }

  /** Counts it until it closes; false where it is one too many. */
  take(counted: Counted, address: string | undefined): boolean {
    const sender = senderOf(address ?? '');
    const count = this.#bySender.get(sender) ?? 0;
    if (this.#open >= this.#max || count >= this.#maxOfSender) {
      this.#onRefused();
      return false;
    }
    this.#open++;
    this.#bySender.set(sender, count + 1);
    counted.once('close', () => this.#release(sender));
    return true;
  }

  #release(sender: string): void {
    this.#open--;
    const count = this.#bySender.get(sender) ?? 0;
    if (count > 1) this.#bySender.set(sender, count - 1);
    else this.#bySender.delete(sender);
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: one customer of a provider has all the others. */
export function senderOf(address: string): string {
  if (address.includes('.')) return address;
  const [left = '', right] = address.split('::', 2);
  const groups = left === '' ? [] : left.split(':');
  if (right !== undefined) {
    const missing = 8 - groups.length - right.split(':').length;
    groups.push(...Array.from({ length: Math.max(missing, 0) }, () => '0'), ...right.split(':'));
  }
  return groups.slice(0, 4).join(':');
}
