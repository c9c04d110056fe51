// Several processes on one broker: those that store and ask work on one ClickHouse or do not start, and the others need
// none.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { batchCreate, eventually, listActivity, newEvent } from './harness/clients/client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { startBroker } from './harness/servers/broker.ts';
import { startStack } from './harness/servers/stack.ts';
import { copyStopped } from './harness/stopped-copy.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-split-'));
afterAll(() => removeFolder(dataDir));

const another =
  'millrace: the events of this broker are in another ClickHouse than the embedded one of this data directory, or that ' +
  'one has lost its data: set CLICKHOUSE_URL to one server in every process of this broker';

it('one process has the events of a broker: no second one answers from a ClickHouse of its own', async () => {
  const broker = await startBroker();
  const env = { NATS_URL: broker.url };
  const first = await startStack({ dataDir: join(dataDir, 'first'), env });
  try {
    // Before the first event, too: an answer of none would say that it is complete.
    const second = startStack({ dataDir: join(dataDir, 'second'), env });
    await expect(second).rejects.toThrow(another);
    expect(await batchCreate(first, [newEvent({ distinctId: 'of the first' })])).toMatchObject({
      status: 200,
    });
    const ingest = await startStack({
      dataDir: join(dataDir, 'ingest'),
      env,
      args: ['--roles', 'ingest,control'],
    });
    expect(ingest.pids().engine).toBe(0);
    await expect.poll(async () => (await fetch(`${ingest.baseUrl}/readyz`)).status).toBe(200);
    // Keys are the broker's: each directory has its own to the same project.
    expect(await batchCreate(ingest, [newEvent({ distinctId: 'of the first' })])).toMatchObject({
      status: 200,
    });
    expect(await ingest.stop()).toMatchObject({ code: 0 });
    await eventually(
      () => listActivity(first, { distinctId: 'of the first' }),
      (page) => page.events.length === 2,
    );
    const late = startStack({ dataDir: join(dataDir, 'second'), env });
    await expect(late).rejects.toThrow(another);
  } finally {
    expect(await first.stop()).toMatchObject({ code: 0 });
  }
  // Its own tables are the broker's still, and a copy's are not. Where they are gone, it says how to go on.
  copyStopped(join(dataDir, 'first'), join(dataDir, 'copy'));
  const again = await first.restart();
  await expect(startStack({ dataDir: join(dataDir, 'copy'), env })).rejects.toThrow(
    'another ClickHouse than the embedded one of this data directory, which may be an older copy of it: ',
  );
  expect((await listActivity(again, { distinctId: 'of the first' })).events).toHaveLength(2);
  await again.stop();
  rmSync(join(dataDir, 'first', 'clickhouse'), { recursive: true });
  await expect(first.restart()).rejects.toThrow(another);
  const emptied = await first.restart({ args: ['--accept-empty-tables'] });
  expect((await listActivity(emptied, { distinctId: 'of the first' })).events).toEqual([]);
  await batchCreate(emptied, [newEvent({ distinctId: 'afterwards' })]);
  await eventually(
    () => listActivity(emptied, { distinctId: 'afterwards' }),
    (page) => page.events.length === 1,
  );
  await emptied.stop();
  const kept = await first.restart();
  await kept.stop();
  await broker.stop();
});
