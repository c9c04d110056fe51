// Tells whose process serves a loopback port, from the kernel's table of sockets. Any user of a machine can take the
// port of a server that has just died, and would be sent what was meant for the server. Linux only.

import { readFileSync } from 'node:fs';

// 127.0.0.1 and the wildcard, as the tables for IPv4 and IPv6 write them: a socket for IPv6 takes IPv4 connections too.
const reachedByLoopback = new Set([
  '0100007F',
  '00000000',
  '0000000000000000FFFF00000100007F',
  '00000000000000000000000000000000',
]);
const root = 0;

/**
 * The id of another user with a socket at the port; undefined where only `uid` and root have some, or where the system
 * has no such table. Sockets that no longer listen count: a server may greet a client long after it accepted it.
 */
export function strangerAt(port: number, uid: number): number | undefined {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of linesOf(table).filter((text) => text.includes(ending))) {
      const [, local = '', , , , , , owner] = line.trim().split(/\s+/);
      const address = local.endsWith(ending) ? local.slice(0, -ending.length) : '';
      if (!reachedByLoopback.has(address)) continue;
      if (Number(owner) !== uid && Number(owner) !== root) return Number(owner);
    }
  }
  return undefined;
}

function linesOf(table: string): string[] {
  try {
    return readFileSync(table, 'latin1').split('\n').slice(1);
  } catch {
    return [];
  }
}
