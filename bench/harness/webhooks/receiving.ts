// The endpoints of the benches of webhooks, each at a port of its own: they answer at once, until some are told to hang
// or to refuse. Each POST's lag is counted from the time at which its event occurred.

import { createServer, type Server, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ReceivedDeliveries {
  /** POSTs to endpoints that answer. */
  posts: number;
  /** Different delivery ids among them. */
  deliveries: number;
  p50Ms: number;
  p99Ms: number;
  highestMs: number;
  /** The most POSTs at once to one endpoint of any kind. */
  mostAtOnce: number;
}

/** Endpoints by their place in the list of ports. */
export interface Failing {
  hang: number[];
  refuse: number[];
}

const closeComesMs = 50;

class Endpoints {
  readonly #servers: Server[] = [];
  readonly #hanging = new Set<number>();
  readonly #ids = new Set<string>();
  /** What occurred before the last report and comes after it is in none. */
  #sinceMs = 0;
  #lagsMs: number[] = [];
  #mostAtOnce = 0;

  get deliveries(): number {
    return this.#ids.size;
  }

  /** The ports. */
  async open(count: number): Promise<number[]> {
    const ports: number[] = [];
    for (let place = 0; place < count; place++) {
      const server = this.#endpoint(place);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      ports.push(typeof address === 'object' && address !== null ? address.port : 0);
      this.#servers.push(server);
    }
    return ports;
  }

  fail({ hang, refuse }: Failing): void {
    for (const place of hang) this.#hanging.add(place);
    for (const place of refuse) {
      this.#servers[place]?.close();
      this.#servers[place]?.closeAllConnections();
    }
  }

  /** What occurred and came since the last report. */
  report(): ReceivedDeliveries {
    const sorted = Float64Array.from(this.#lagsMs).sort();
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
    const deliveries = this.#ids.size;
    const mostAtOnce = this.#mostAtOnce;
    this.#sinceMs = Date.now();
    this.#lagsMs = [];
    this.#ids.clear();
    this.#mostAtOnce = 0;
    const lags = { p50Ms: at(0.5), p99Ms: at(0.99), highestMs: at(1) };
    return { posts: sorted.length, deliveries, ...lags, mostAtOnce };
  }

  #endpoint(place: number): Server {
    let atOnce = 0;
    const server = createServer((request, response) => {
      const now = ++atOnce;
      response.once('close', () => atOnce--);
      // The close of an attempt that was given up may come after the attempt that follows it: what lasts is counted.
      const look = (): void => {
        this.#mostAtOnce = Math.max(this.#mostAtOnce, Math.min(now, atOnce));
      };
      if (this.#hanging.has(place)) setTimeout(look, closeComesMs);
      else look();
      const cameMs = Date.now();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        if (this.#hanging.has(place)) return;
        const id = String(request.headers['x-service-delivery']);
        this.#take(id, Buffer.concat(chunks), cameMs, response);
      });
    });
    server.keepAliveTimeout = 60_000;
    return server;
  }

  #take(id: string, body: Buffer, cameMs: number, response: ServerResponse): void {
    response.writeHead(200, { 'content-length': '0' }).end();
    const { occurTime } = JSON.parse(body.toString());
    const occurTimeMs = Date.parse(occurTime);
    if (occurTimeMs < this.#sinceMs) return;
    this.#lagsMs.push(cameMs - occurTimeMs);
    this.#ids.add(id);
  }
}

/**
 * Prints the ports as JSON, then an answer for each line of the parent: to `count` the different deliveries since the
 * last report, to `report` what came since then, as JSON; any other line is `Failing` as JSON.
 */
export async function serveEndpoints(count: number, parent: Readable): Promise<void> {
  const endpoints = new Endpoints();
  const answer = (value: unknown): void => {
    process.stdout.write(`${JSON.stringify(value)}\n`);
  };
  answer(await endpoints.open(count));
  for await (const line of createInterface({ input: parent })) {
    if (line === 'count') answer(endpoints.deliveries);
    else if (line === 'report') answer(endpoints.report());
    else {
      endpoints.fail(JSON.parse(line));
      answer('failing');
    }
  }
}
