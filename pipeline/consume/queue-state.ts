// A stream of a shard as its writer leaves it: how much it holds, and the deletion of one message. Delivery and acks
// are event-stream.ts's.

import { leaderInfo } from '../../platform/broker/cluster/leader-info.ts';
import { apiErrorCode, type NatsConnection, type StoredMsg } from '../../platform/broker/nats.ts';
import { messageAt } from '../../platform/broker/queues/message-at.ts';

export interface QueueState {
  /** When the stream was made, in the words of its info. */
  created: string;
  /** Those that were delivered and not acked included. */
  messages: number;
  bytes: number;
  /** The lowest sequence that is stored, and the highest that ever was. */
  firstSeq: number;
  lastSeq: number;
  /** When the message of `firstSeq` was stored, by the broker's clock. */
  oldestMs: number;
}

/** The broker as leftover-messages.ts needs it. */
export interface StoredMessages {
  state(): Promise<QueueState>;
  /** False where there is no such message, or where the broker could not delete it. */
  delete(seq: number): Promise<boolean>;
  /**
   * When the message was stored, by the broker's clock; undefined where there is none, or one that holds nothing, as
   * they fill a stream up to its ledger's mark.
   */
  storedMs(seq: number): Promise<number | undefined>;
}

const notDeleted = 10_057;

/** Undefined where the server that answers has no such message, as a young leader may say of one that is there. */
export async function findMessage(
  connection: NatsConnection,
  stream: string,
  seq: number,
): Promise<StoredMsg | undefined> {
  const manager = await connection.jetstreamManager({ checkAPI: false });
  return messageAt(manager, stream, seq);
}

/** Throws where the stream has no leader. */
export async function queueState(connection: NatsConnection, stream: string): Promise<QueueState> {
  const manager = await connection.jetstreamManager({ checkAPI: false });
  const { created, state } = await leaderInfo(manager, stream);
  return {
    created,
    messages: state.messages,
    bytes: state.bytes,
    firstSeq: state.first_seq,
    lastSeq: state.last_seq,
    oldestMs: Date.parse(state.first_ts),
  };
}

export function openStoredMessages(connection: NatsConnection, stream: string): StoredMessages {
  return {
    state: () => queueState(connection, stream),
    async delete(seq) {
      try {
        const manager = await connection.jetstreamManager({ checkAPI: false });
        // Overwriting the bytes as well would make the broker write its file anew.
        return await manager.streams.deleteMessage(stream, seq, false);
      } catch (error) {
        if (apiErrorCode(error) === notDeleted) return false;
        throw error;
      }
    },
    async storedMs(seq) {
      const found = await findMessage(connection, stream, seq);
      return found === undefined || found.data.length === 0 ? undefined : found.time.getTime();
    },
  };
}
