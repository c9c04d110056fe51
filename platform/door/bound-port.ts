// Takes a port without listening on it. Whoever gets the handle may listen, this process or another. From then on
// the system takes connections for as long as one process has a copy of the handle, and they wait while none accepts.

import { lookup } from 'node:dns/promises';
import net from 'node:net';
import { getSystemErrorName } from 'node:util';

export interface BoundPort {
  kind: 'bound';
  port: number;
  /** Node's own object for a socket; net.Server listens on it, and ProcessLink sends a copy to a process. */
  handle: object;
}

/** `code`: the system's, such as EADDRINUSE. */
export type BindOutcome = BoundPort | { kind: 'refused'; code: string };

/** 0 takes a free port. */
export type Bind = (host: string, port: number) => Promise<BindOutcome>;

/** Takes the port for this process. */
export async function bindPort(host: string, port: number): Promise<BindOutcome> {
  try {
    const { address, family } = await lookup(host);
    // net.Server can only bind and accept at once. By this name node:cluster has the handle that its members share.
    const create = Reflect.get(net, '_createServerHandle');
    const handle: unknown = Reflect.apply(create, net, [address, port, family, undefined, 0]);
    if (typeof handle !== 'object' || handle === null) return refused(handle);
    const name = {};
    // An address in use may be told here only.
    const failed: unknown = Reflect.apply(Reflect.get(handle, 'getsockname'), handle, [name]);
    return failed === 0
      ? { kind: 'bound', handle, port: Number(Reflect.get(name, 'port')) }
      : refused(failed);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    return { kind: 'refused', code: String(code) };
  }
}

function refused(code: unknown): BindOutcome {
  return { kind: 'refused', code: typeof code === 'number' ? getSystemErrorName(code) : '' };
}
