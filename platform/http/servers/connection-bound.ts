// How many connections may be open: for all, and for one sender, who could otherwise take everybody's. Closes the one
// that is too many; serving the others is up to the servers.

import type { Socket } from 'node:net';

// A proxy brings all its senders from one address, and gets by with a quarter of the bound.
const senderShare = 4;

export class ConnectionBound {
  readonly #max: number;
  readonly #maxOfSender: number;
  readonly #bySender = new Map<string, number>();
  #open = 0;

  readonly #onRefused: () => void;

  constructor(max: number, onRefused: () => void) {
    this.#max = max;
    this.#onRefused = onRefused;
    this.#maxOfSender = Math.ceil(max / senderShare);
  }

  /** Counts the connection until it closes; false where it was one too many and is closed. */
  take(socket: Socket): boolean {
    const sender = senderOf(socket.remoteAddress ?? '');
    const count = this.#bySender.get(sender) ?? 0;
    if (this.#open >= this.#max || count >= this.#maxOfSender) {
      socket.destroy();
      this.#onRefused();
      return false;
    }
    this.#open++;
    this.#bySender.set(sender, count + 1);
    socket.once('close', () => this.#release(sender));
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
