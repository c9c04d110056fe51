// How far a shard's writer is behind: the age of the oldest message in its stream, which the broker deletes once it is
// stored. The broker is asked once a second while somebody watches, so the figure is right while the writer is stuck.

import { leaderInfo } from '../../platform/broker/cluster/leader-info.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import type { Clock } from '../../platform/clock.ts';

const askEveryMs = 1_000;
const freshMs = 2_500;

export class ShardLag {
  readonly #connection: Pick<NatsConnection, 'jetstreamManager'>;
  readonly #stream: string;
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;
  /** The broker's last answer: when the oldest message came, undefined where there was none, and when it answered. */
  #answer: { oldestMs: number | undefined; atMs: number } | undefined;

  /** Asks at once, and until it is closed. */
  constructor(connection: Pick<NatsConnection, 'jetstreamManager'>, stream: string, clock: Clock) {
    this.#connection = connection;
    this.#stream = stream;
    this.#clock = clock;
    this.#timer = setInterval(() => void this.#ask(), askEveryMs);
    void this.#ask();
  }

  /** As of the last answer; grows while the broker does not answer. Undefined before its first answer. */
  ms(): number | undefined {
    if (this.#answer === undefined) return undefined;
    const { oldestMs, atMs } = this.#answer;
    if (oldestMs === undefined) return 0;
    const nowMs = this.#clock.nowMs();
    // The oldest message of a fresh answer may be stored by now.
    return Math.max(0, (nowMs - atMs > freshMs ? nowMs : atMs) - oldestMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const manager = await this.#connection.jetstreamManager({ checkAPI: false });
      const { state } = await leaderInfo(manager, this.#stream);
      const oldestMs = state.messages === 0 ? undefined : Date.parse(state.first_ts);
      this.#answer = { oldestMs, atMs: this.#clock.nowMs() };
    } catch {
      // The check of the broker tells that it does not answer.
    } finally {
      this.#isAsking = false;
    }
  }
}
