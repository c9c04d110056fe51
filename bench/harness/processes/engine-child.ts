// An embedded engine that takes statements over HTTP as always, and straight from its parent without HTTP, client or
// upload. The second is the calibration of the first.

import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { socketUrl } from '../../../platform/clickhouse/server-url.ts';
import { Engine } from '../../../sql/engine/engine.ts';
import { engineArguments } from '../../../sql/engine/engine-arguments.ts';
import { createEngineServer } from '../../../sql/engine/server.ts';

// The service's engine has 768. Two inserts at once beside their merges need more, and the engine's own rate is the
// question.
const memoryMiB = 2_048;

/**
 * Prints the URL of its HTTP interface, then `done` for each line of SQL from the parent; lines run at once
 * as far as there are writers.
 */
export async function serveEngine(path: string, database: string, parent: Readable): Promise<void> {
  const bounds = { readers: 1, writers: 2, maxWaiting: 10 };
  const options = { ...bounds, engineArguments: engineArguments(memoryMiB) };
  const engine = await Engine.open({ path, ...options });
  const password = randomBytes(24).toString('base64url');
  const server = createEngineServer(engine, password);
  const socket = `${path}.sock`;
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  process.stdout.write(`${socketUrl(socket, database, password)}\n`);
  const never = new AbortController().signal;
  let statements = 0;
  for await (const sql of createInterface({ input: parent })) {
    // Without a token, a repetition of the last block is dropped, and the bench inserts one block again and again.
    const settings = new Map([['insert_deduplication_token', `own-${statements++}`]]);
    engine
      .command(sql, { settings, database }, 'TabSeparated', never)
      .then(() => process.stdout.write('done\n'), fail);
  }
  server.close();
  await engine.close();
}

function fail(error: Error): never {
  process.stderr.write(`the bench's engine: ${error.message}\n`);
  process.exit(1);
}
