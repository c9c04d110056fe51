// The pages for the operator: whether the process is alive, whether it is ready, its metrics, its service definitions.
// Open to everybody who reaches the port.

import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeHttpRoute } from './http.ts';

export interface ReadinessCheck {
  name: string;
  /** Whether the dependency answers now; a rejection counts as false. */
  check: () => Promise<boolean> | boolean;
}

/** The part of prom-client's Registry that the page needs. */
export interface MetricsPage {
  contentType: string;
  metrics(): Promise<string>;
}

// A dependency that takes longer to answer is not ready.
const checkTimeoutMs = 2_000;

/** `/healthz`, `/readyz`, `/metrics` and `/descriptors.binpb`; `descriptorsFile` is read once. */
export function createOperatorRoutes(options: {
  metrics: MetricsPage;
  checks: readonly ReadinessCheck[];
  descriptorsFile: string;
}): NodeHttpRoute {
  const descriptors = readFileSync(options.descriptorsFile);
  return (request, response, { path }) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    switch (path) {
      case '/healthz':
        send(response, 200, 'text/plain; charset=utf-8', 'ok\n');
        return true;
      case '/readyz':
        void readiness(options.checks).then((ready) => {
          const status = Object.values(ready).every(Boolean) ? 200 : 503;
          send(response, status, 'application/json', `${JSON.stringify(ready)}\n`);
        });
        return true;
      case '/metrics':
        void options.metrics.metrics().then(
          (text) => send(response, 200, options.metrics.contentType, text),
          () => send(response, 500, 'text/plain; charset=utf-8', 'metrics could not be read\n'),
        );
        return true;
      case '/descriptors.binpb':
        send(response, 200, 'application/octet-stream', descriptors);
        return true;
      default:
        return false;
    }
  };
}

/** Runs all checks at once; true by name where one holds. */
async function readiness(checks: readonly ReadinessCheck[]): Promise<Record<string, boolean>> {
  const results = await Promise.all(
    checks.map(async ({ name, check }): Promise<[string, boolean]> => {
      const timeout = new Promise<false>((resolve) => {
        setTimeout(() => resolve(false), checkTimeoutMs).unref();
      });
      try {
        return [name, await Promise.race([check(), timeout])];
      } catch {
        return [name, false];
      }
    }),
  );
  return Object.fromEntries(results);
}

/** Checks every 25 ms until all hold; false where they do not within `timeoutMs`. */
export async function untilReady(
  checks: readonly ReadinessCheck[],
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (Object.values(await readiness(checks)).every(Boolean)) return true;
    if (performance.now() > deadline) return false;
    await delay(25);
  }
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
