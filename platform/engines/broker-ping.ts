// Asks the embedded broker for all its streams, as the operator and on a connection of its own. nats-server 2.9 hangs
// for good where a write finds the disk full: it listens and greets, and never answers for a stream again.

import { connectBroker, type NatsConnection } from '../broker/nats.ts';
import type { Log } from '../log.ts';

export interface BrokerPing {
  /** Resolves with true once every stream has told its state; rejects where the broker does not answer in time. */
  ask(bounds: { timeoutMs: number; signal: AbortSignal }): Promise<boolean>;
  close(): void;
}

const keptMs = 60_000;

/**
 * Keeps its connection for a minute while the broker answers: to open one takes ten times a ping, because the owner of
 * the port is looked for among all sockets of the machine, but shows that the broker takes new ones. One ping at a
 * time. `url` is read for each new connection.
 */
export function openBrokerPing(url: () => string, log: Log): BrokerPing {
  const silent = log.child({}, { level: 'silent' });
  let kept: { connection: NatsConnection; untilMs: number } | undefined;
  const close = (): void => {
    void kept?.connection.close();
    kept = undefined;
  };
  const connect = async (timeoutMs: number): Promise<NatsConnection> => {
    const connection = await connectBroker(url(), silent, { firstConnectMs: timeoutMs });
    close();
    kept = { connection, untilMs: performance.now() + keptMs };
    return connection;
  };
  return {
    async ask({ timeoutMs: timeout, signal }) {
      signal.addEventListener('abort', close, { once: true });
      try {
        const isFresh = performance.now() < (kept?.untilMs ?? 0);
        const connection = (isFresh && kept?.connection) || (await connect(timeout));
        if (signal.aborted) return false;
        await connection.request('$JS.API.STREAM.LIST', '{"offset":0}', { timeout });
        return true;
      } catch (error) {
        close();
        throw error;
      } finally {
        signal.removeEventListener('abort', close);
        if (signal.aborted) close();
      }
    },
    close,
  };
}
