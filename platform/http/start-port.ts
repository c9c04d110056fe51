// Answers for a start that takes long, as one that migrates tables does: its process lives, and is not ready. Otherwise
// whoever watches it would end it in the middle. The service takes the ports over.

import { type HttpServer, type NodeHttpRoute, startHttp } from './http.ts';

export interface StartPort {
  /** Listens; `/readyz` says `migrating`. Rejects with the system's error where it cannot. */
  open(): Promise<void>;
  /** From now on `/readyz` says `starting`. */
  hasMigrated(): void;
  /** Call it before the service listens. Nothing has to be open. */
  close(): Promise<void>;
}

const graceMs = 1_000;

/** A port of 0, which nobody knows, and one that is absent are left alone. */
export function createStartPort(host: string, ports: readonly (number | undefined)[]): StartPort {
  let state = 'migrating';
  const servers: HttpServer[] = [];
  const answer: NodeHttpRoute = (_, response, { path }) => {
    const lives = path === '/healthz';
    const body = lives ? 'ok\n' : `${state}\n`;
    response.writeHead(lives ? 200 : 503, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      ...(!lives && { 'retry-after': '1' }),
    });
    response.end(body);
    return true;
  };
  const listen = (port: number): Promise<HttpServer> =>
    startHttp({
      host,
      port,
      nodeHttpRoutes: [answer],
      connect: { routes: () => {} },
      serviceAliases: new Map(),
    });
  return {
    async open() {
      for (const port of ports) if (port) servers.push(await listen(port));
    },
    hasMigrated() {
      state = 'starting';
    },
    async close() {
      await Promise.all(servers.splice(0).map((server) => server.close(graceMs)));
    },
  };
}
