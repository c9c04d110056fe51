// The client's socket to one server of the broker, without two faults of `nats` 2.29.3 that a cluster brings out. An
// attempt to connect that has timed out lives on there: when its server answers later and then closes it, the client
// takes that for the loss of its connection and makes another one beside it. One parser reads both, and bytes of one
// stand in the middle of the other's messages. And a connection that is given up waits until its last bytes are sent,
// which a server that hangs never lets happen.

import type { ConnectionOptions, NatsConnection } from 'nats';
import { NatsConnectionImpl, setTransportFactory } from 'nats/lib/nats-base-client/internal_mod.js';
import { NodeTransport, nodeResolveHost } from 'nats/lib/src/node_transport.js';

/** As `connect` of `nats`, on a transport of this file. */
export function connectTransport(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new Transport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}

class Transport extends NodeTransport {
  /** Called for an attempt that has failed or timed out, too: what becomes of it later concerns nobody. */
  override async close(error?: Error): Promise<void> {
    if (this.connected) return super.close(error);
    this.done = true;
    this.socket?.destroy();
  }

  override disconnect(): void {
    void this.close();
  }
}
