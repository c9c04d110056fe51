// Asks the embedded broker for all its streams, as the operator and on a connection of its own. nats-server 2.9 hangs
// for good where a write finds the disk full: it listens and greets, and never answers for a stream again.

import { connectBroker } from '../broker/nats.ts';
import type { Log } from '../log.ts';

/** Resolves with true once every stream has told its state; rejects where the broker does not answer in time. */
export async function pingBroker(
  url: string,
  log: Log,
  bounds: { timeoutMs: number; signal: AbortSignal },
): Promise<boolean> {
  const { timeoutMs: timeout, signal } = bounds;
  const silent = log.child({}, { level: 'silent' });
  const connection = await connectBroker(url, silent, { firstConnectMs: timeout });
  const close = (): void => void connection.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    if (signal.aborted) return false;
    await connection.request('$JS.API.STREAM.LIST', '{"offset":0}', { timeout });
    return true;
  } finally {
    signal.removeEventListener('abort', close);
    close();
  }
}
