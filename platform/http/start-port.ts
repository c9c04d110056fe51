// Answers for a service that does not serve yet, or no more: its process lives, and is not ready. Whoever watches it
// would end it in the middle of a migration otherwise, and whoever has an event to send would wait too long.

import type { Entrance } from '../door/entrance.ts';
import type { Away } from './answers/away.ts';
import { createHttp } from './http.ts';

export interface StartPort {
  /** Takes the connections that come from now on, with this for `/readyz`. Rejects where it cannot listen. */
  open(state: Away): Promise<void>;
  /** Opens then, if the service does not serve before. */
  openAfter(waitMs: number): void;
  /** What `/readyz` says where it is open. */
  say(state: Away): void;
  /** Call it before the service opens the entrances. Connections that are open are answered all the same. */
  leave(): void;
}

export function createStartPort(entrances: readonly Entrance[]): StartPort {
  let state: Away = 'starting';
  let timer: NodeJS.Timeout | undefined;
  const server = createHttp({
    away: () => state,
    nodeHttpRoutes: [],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
  });
  async function open(): Promise<void> {
    await Promise.all(entrances.map((entrance) => entrance.open(server.serve)));
  }
  return {
    open(next) {
      state = next;
      return open();
    },
    openAfter(waitMs) {
      // The service meets the same failure, and says so.
      timer = setTimeout(() => open().catch(() => {}), waitMs);
    },
    say(next) {
      state = next;
    },
    leave: () => clearTimeout(timer),
  };
}
