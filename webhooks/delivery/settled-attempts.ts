// Knows which attempts are done, by this process or another, so that a message that comes again is acknowledged without
// a POST. A broker that was killed delivers such messages: it forgets the acks of its last moments, and the ids.

import { setBounded } from '../../platform/memory/bounded-map.ts';
import type { Delivery } from '../../platform/webhooks/delivery.ts';
import type { LoggedAttempt } from '../attempts/recent-attempts.ts';

export type AttemptState = 'new' | 'under_way' | 'settled';

/** Some 6 MB. */
const maxSettled = 50_000;

export class SettledAttempts {
  readonly #readRecent: () => Promise<readonly LoggedAttempt[]>;
  readonly #settled = new Map<string, true>();
  readonly #underWay = new Set<string>();
  #loading: Promise<void> = Promise.resolve();

  /** `readRecent` never rejects. */
  constructor(readRecent: () => Promise<readonly LoggedAttempt[]>) {
    this.#readRecent = readRecent;
  }

  /** Adds what others have settled: `loaded` waits for it from the moment of the call, `after` included. */
  load(after: Promise<void> = Promise.resolve()): Promise<void> {
    this.#loading = this.#loading
      .then(() => after)
      .then(async () => {
        for (const attempt of await this.#readRecent()) this.add(attempt);
      });
    return this.#loading;
  }

  loaded(): Promise<void> {
    return this.#loading;
  }

  /** The attempt is in the log. */
  add(attempt: LoggedAttempt): void {
    setBounded(this.#settled, keyOf(attempt), true, maxSettled);
  }

  isSettled(delivery: Delivery): boolean {
    if (this.#settled.has(keyOf(delivery))) return true;
    // One that was recorded and not sent is over, whichever attempt it had come to.
    return this.#settled.has(keyOf({ ...delivery, attempt: 0 }));
  }

  /** `new` begins the attempt. Under way is a copy of the message: which of the two is the last one nobody knows. */
  begin(delivery: Delivery): AttemptState {
    if (this.isSettled(delivery)) return 'settled';
    const key = keyOf(delivery);
    if (this.#underWay.has(key)) return 'under_way';
    this.#underWay.add(key);
    return 'new';
  }

  /** Ends what `begin` began, settled or not. */
  end(delivery: Delivery): void {
    this.#underWay.delete(keyOf(delivery));
  }
}

/** A delivery that somebody asks for again is one more attempt, which the moment of asking tells from the others. */
function keyOf({ deliveryId, attempt, trigger, acceptTimeMs }: LoggedAttempt): string {
  return trigger === 'SCHEDULED'
    ? `${deliveryId} ${attempt}`
    : `${deliveryId} ${trigger} ${acceptTimeMs}`;
}
