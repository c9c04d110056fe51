// The rows of one batch that came without a session: number, visitor and time of each, from which the writer assigns
// sessions. It knows one batch only; the sessions themselves belong to pipeline/sessions/sessions.ts.

import { Float64Column, Int32Buffer } from '../columns/column-buffers.ts';
import type { SessionlessRows } from './thread-messages.ts';
import { visitorKey } from './visitor-key.ts';

const nobody = -1;

export class SessionlessTable {
  readonly #rows = new Int32Buffer();
  readonly #occurTimes = new Float64Column();
  readonly #visitorOf = new Int32Buffer();
  readonly #otherOf = new Int32Buffer();
  readonly #visitors: string[] = [];
  readonly #indexOf = new Map<string, number>();

  get length(): number {
    return this.#rows.length;
  }

  clear(): void {
    this.#rows.clear();
    this.#occurTimes.clear();
    this.#visitorOf.clear();
    this.#otherOf.clear();
    this.#visitors.length = 0;
    this.#indexOf.clear();
  }

  /** `otherId` is the visitor's id beyond the nearest midnight; '' where there is none. */
  add(row: number, projectId: string, distinctId: string, otherId: string, timeMs: number): void {
    this.#rows.push(row);
    this.#occurTimes.push(timeMs);
    this.#visitorOf.push(this.#visitor(projectId, distinctId));
    this.#otherOf.push(otherId === '' ? nobody : this.#visitor(projectId, otherId));
  }

  /** The rows' numbers, ascending; a view. */
  numbers(): Int32Array {
    return this.#rows.view();
  }

  /** A copy of everything. */
  snapshot(): SessionlessRows {
    return {
      rows: this.#rows.view().slice(),
      occurTimes: this.#occurTimes.view().slice(),
      visitorOf: this.#visitorOf.view().slice(),
      otherOf: this.#otherOf.view().slice(),
      visitors: [...this.#visitors],
    };
  }

  #visitor(projectId: string, distinctId: string): number {
    const key = visitorKey(projectId, distinctId);
    const known = this.#indexOf.get(key);
    if (known !== undefined) return known;
    const index = this.#visitors.length;
    this.#indexOf.set(key, index);
    this.#visitors.push(key);
    return index;
  }
}
