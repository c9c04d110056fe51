// One connection of the generator with its request, which is made fresh before each send. When it sends is the
// generator's decision.

import { rfc3339 } from '../../demo/visits/event.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Held } from './held-client.ts';
import type { Marks } from './marks.ts';
import { FreshIds, freshen, type PreparedBody, setSession } from './prepared-body.ts';

/** Away: its connection is being made. */
type LaneState = 'away' | 'idle' | 'busy';

/** What all lanes share. */
export interface LaneNeeds {
  ids: FreshIds;
  marks: Marks | undefined;
  /** The text of the present millisecond, made once for all requests of it. */
  occurTime: { ms: number; text: Buffer };
}

export function createLaneNeeds(marks: Marks | undefined): LaneNeeds {
  return { ids: new FreshIds(), marks, occurTime: { ms: 0, text: Buffer.alloc(0) } };
}

export class Lane {
  state: LaneState = 'away';
  /** When the request under way was due, by performance.now(). */
  dueMs = 0;
  /** Whether the last answer was another than 200. */
  refused = false;
  readonly #held: Held;
  readonly #body: PreparedBody;
  readonly #needs: LaneNeeds;
  #marked: string | undefined;

  /** autocannon has copied the body behind the request's head; from here on only the copy is written to. */
  constructor(held: Held, body: PreparedBody, needs: LaneNeeds) {
    this.#held = held;
    this.#body = { ...body, bytes: held.requestBytes().subarray(-body.bytes.length) };
    this.#needs = needs;
  }

  send(dueMs: number): void {
    const { ids, marks, occurTime } = this.#needs;
    const occurMs = systemClock.nowMs();
    if (occurMs !== occurTime.ms) {
      occurTime.ms = occurMs;
      occurTime.text = Buffer.from(rfc3339(occurMs));
    }
    freshen(this.#body, ids, occurTime.text);
    if (marks?.isDue(dueMs)) {
      this.#marked = setSession(this.#body, marks.session);
      marks.begin(this.#marked, dueMs, occurMs);
    }
    this.state = 'busy';
    this.dueMs = dueMs;
    this.#held.send();
  }

  /** The request under way was acknowledged, or refused or lost. */
  settle(acknowledged: boolean): void {
    if (this.#marked === undefined) return;
    if (acknowledged) this.#needs.marks?.acknowledge(this.#marked);
    else this.#needs.marks?.drop(this.#marked);
    this.#marked = undefined;
    setSession(this.#body, this.#body.session);
  }
}
