// An engine or a broker of ours that ends is known at once: `/readyz` says so before any connection can have noticed,
// whatever it has answered a moment before, and until the next one has answered.

import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, rows } from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

async function readiness(): Promise<Record<string, boolean>> {
  const response = await fetch(`${stack.baseUrl}/readyz?verbose`);
  return JSON.parse(await response.text());
}

const isReady = (parts: Record<string, boolean>): boolean => Object.values(parts).every(Boolean);

/** Without it none can start. */
const needed = {
  broker: join('nats', 'nats.conf'),
  engine: join('clickhouse', 'engine.password'),
} as const;

it.each([
  ['broker', 'broker'],
  ['engine', 'clickhouse'],
] as const)(
  'where the %s is killed the service is unready until the next one answers',
  async (part, name) => {
    await eventually(readiness, isReady);
    const file = join(stack.dataDir, needed[part]);
    renameSync(file, `${file}.away`);
    const killed = stack.pids()[part];
    await readiness();
    stack.kill9(part);
    // Its id is free once the service has heard of its end.
    await eventually(
      async () => existsSync(`/proc/${killed}`),
      (isThere) => !isThere,
    );
    expect(await readiness()).toMatchObject({ [name]: false });
    renameSync(`${file}.away`, file);
    await eventually(readiness, isReady);
    expect(await rows(stack.clickhouseUrl, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  },
);
