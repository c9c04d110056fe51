// Which rows of one batch came with a public key. The table has no column for it; only a webhook's payload says it.

import type { PayloadSource } from '../../platform/webhooks/payload.ts';
import { Int32Buffer } from '../columns/column-buffers.ts';

type Credential = 'public' | 'private';

export class RequestSources {
  /** The rows before which the kind of key changes, ascending; the first rows are of private keys. */
  readonly #changes = new Int32Buffer();
  #last: Credential = 'private';

  clear(): void {
    this.#changes.clear();
    this.#last = 'private';
  }

  /** The rows from `row` on came with this key. */
  begin(row: number, credential: Credential): void {
    if (credential === this.#last) return;
    this.#last = credential;
    this.#changes.push(row);
  }

  of(row: number): PayloadSource {
    const changes = this.#changes.view();
    let from = 0;
    let to = changes.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((changes[middle] ?? 0) <= row) from = middle + 1;
      else to = middle;
    }
    return from % 2 === 1 ? 'PUBLIC' : 'PRIVATE';
  }
}
