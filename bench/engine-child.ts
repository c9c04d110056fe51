// An embedded engine that takes statements in two ways: over HTTP as always, and straight from its standard input, so
// with no HTTP, no client and no upload between. The second is what the first is measured against.

import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Engine } from '../sql/engine/engine.ts';
import { createEngineServer } from '../sql/engine/server.ts';

/** Prints the port of the HTTP interface, then `done` after each line of SQL that it was given. */
export async function serveEngine(path: string, database: string): Promise<void> {
  const options = { readers: 1, writers: 2, maxWaiting: 10, engineArguments: [] };
  const engine = await Engine.open({ path, ...options });
  const server = createEngineServer(engine);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.stdout.write(`${portOf(server.address())}\n`);
  const never = new AbortController().signal;
  let statements = 0;
  for await (const sql of createInterface({ input: process.stdin })) {
    // Without a token of its own, a block that was just inserted is dropped: the bench has one block.
    const settings = new Map([['insert_deduplication_token', `own-${statements++}`]]);
    await engine.command(sql, { settings, database }, 'TabSeparated', never);
    process.stdout.write('done\n');
  }
  server.close();
  await engine.close();
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the engine has no port');
  return address.port;
}
