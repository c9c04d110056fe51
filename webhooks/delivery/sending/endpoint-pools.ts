// The connections to endpoints: a pool for each origin and organization, so that no two organizations share a socket.
// The pools that were used last are kept; how a socket is opened is endpoint-connector.ts's.

import { type buildConnector, Pool } from 'undici';
import { maxWebhooks } from '../../../platform/webhooks/webhook-record.ts';
import { usualTurnLimits } from '../queueing/fair-queue.ts';

export interface EndpointPool {
  readonly pool: Pool;
  /** Sockets that were opened so far. */
  opened(): number;
  /** Whether the error is that no connection came about. */
  isUnreached(error: unknown): boolean;
  /** Whether the origin has led into a network that the operator opened. */
  isInside(): boolean;
}

export interface EndpointPools {
  /** The pool is in use until `release`. */
  take(organizationId: string, origin: string): EndpointPool;
  release(pool: EndpointPool): void;
  close(): Promise<void>;
}

interface PoolOptions {
  /** `onOpenedNetwork` is called where a connection leads into a network that the operator opened. */
  connectorFor(onOpenedNetwork: () => void): buildConnector.connector;
  /** Bounds for the answer's head and for pauses in its body. */
  answerTimeoutMs: number;
  /** Pools that are kept; while more are in use there are more. */
  maxPools?: number;
}

const keepAliveMs = 10_000;
// All webhooks of an organization may have one origin: whatever the queue lets through gets a socket at once.
const connections = maxWebhooks * usualTurnLimits.slotsOfWebhook;

class CountedPool implements EndpointPool {
  readonly pool: Pool;
  inUse = 0;
  #opened = 0;
  #isInside = false;
  readonly #unreached = new WeakSet<Error>();

  constructor(origin: string, { connectorFor, answerTimeoutMs }: PoolOptions) {
    const connector = connectorFor(() => {
      this.#isInside = true;
    });
    this.pool = new Pool(origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      headersTimeout: answerTimeoutMs,
      bodyTimeout: answerTimeoutMs,
      connect: (target, callback) => {
        this.#opened++;
        connector(target, (...result) => {
          if (result[0] !== null) this.#unreached.add(result[0]);
          callback(...result);
        });
      },
    });
  }

  opened(): number {
    return this.#opened;
  }

  isUnreached(error: unknown): boolean {
    return error instanceof Error && this.#unreached.has(error);
  }

  isInside(): boolean {
    return this.#isInside;
  }
}

export function createEndpointPools(options: PoolOptions): EndpointPools {
  const { maxPools = 1_000 } = options;
  /** The one used last is the last. */
  const pools = new Map<string, CountedPool>();
  const keyOf = new WeakMap<EndpointPool, string>();
  const closeOldest = (): void => {
    for (const [key, counted] of pools) {
      if (pools.size <= maxPools) return;
      if (counted.inUse > 0) continue;
      pools.delete(key);
      void counted.pool.destroy();
    }
  };
  return {
    take(organizationId, origin) {
      const key = `${organizationId} ${origin}`;
      const counted = pools.get(key) ?? new CountedPool(origin, options);
      counted.inUse++;
      keyOf.set(counted, key);
      pools.delete(key);
      pools.set(key, counted);
      closeOldest();
      return counted;
    },
    release(used) {
      const counted = pools.get(keyOf.get(used) ?? '');
      if (counted !== undefined) counted.inUse--;
    },
    async close() {
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
      pools.clear();
    },
  };
}
