// The moment until which answers are complete: every event and every identity call that was accepted before it is
// stored. The broker is asked and not the writers, so that it holds while a writer is stuck. The lag of the pipeline
// is pipeline/queue-gauges.ts's.

import { leaderInfo } from '../../../platform/broker/cluster/leader-info.ts';
import { followConnection, type NatsConnection } from '../../../platform/broker/nats.ts';
import { eventsStream, profilesStream } from '../../../platform/broker/streams.ts';
import { shardOf } from '../../../platform/broker/topology.ts';
import type { Clock } from '../../../platform/clock.ts';

/** In milliseconds since the epoch; undefined where the broker does not answer. Never rejects. */
export type CompleteUntil = (projectId: string) => Promise<number | undefined>;

/** An older moment is as true as a new one, only earlier. */
const keepMs = 100;
/** A broker that did not answer is left alone for a while: reads do not wait for it again and again. */
const keepFailureMs = 2_000;
const answerTimeoutMs = 500;

interface CompleteUntilOptions {
  nats: NatsConnection;
  shards: number;
  clock: Clock;
}

interface Asked {
  atMs: number;
  moment: Promise<number | undefined>;
  keepMs: number;
}

/** Asks once for all who want to know of a shard within a tenth of a second. */
export function createCompleteUntil({ nats, shards, clock }: CompleteUntilOptions): CompleteUntil {
  const broker = followConnection(nats);
  const askedOf = new Map<number, Asked>();
  return (projectId) => {
    const shard = shardOf(projectId, shards);
    const last = askedOf.get(shard);
    if (last !== undefined && performance.now() - last.atMs < last.keepMs) return last.moment;
    // While it waits for the broker, everybody waits with it.
    const asked: Asked = {
      atMs: performance.now(),
      moment: ask(shard),
      keepMs: answerTimeoutMs * 2,
    };
    askedOf.set(shard, asked);
    void asked.moment.then((moment) => {
      asked.keepMs = moment === undefined ? keepFailureMs : keepMs;
    });
    return asked.moment;
  };

  async function ask(shard: number): Promise<number | undefined> {
    if (!broker.connected()) return undefined;
    const nowMs = clock.nowMs();
    try {
      const manager = await nats.jetstreamManager({ checkAPI: false, timeout: answerTimeoutMs });
      const streams = [eventsStream(shard), profilesStream(shard)];
      const infos = await Promise.all(streams.map((name) => leaderInfo(manager, name)));
      // The writer acks a message after its insert, so the first message is the oldest that may not be stored. Dead
      // letters are acked too: nobody counts them. Messages that a killed broker has kept only make it earlier.
      const oldest = infos.map(({ state }) =>
        state.messages === 0 ? nowMs : Date.parse(state.first_ts),
      );
      return Math.min(nowMs, ...oldest);
    } catch {
      // The check of the broker tells that it does not answer.
      return undefined;
    }
  }
}
