// An upgrade whose migration takes long: the service says on each of its ports that it lives and is not ready, and
// takes them over once its tables are made. The gate is the lock that a process holds while it makes a table anew.

import { expect, it, onTestFinished } from 'vitest';
import { batchCreate, eventually, newEvent } from './harness/clients/client.ts';
import { ownPort } from './harness/listen.ts';
import { startStack } from './harness/servers/stack.ts';
import { startOldDatabase } from './harness/tables/old-database.ts';

interface Answer {
  status: number;
  body: string;
  retryAfter: string | null;
}

async function ask(port: number, path: string, method = 'GET'): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, body: await response.text(), retryAfter };
}

it.each([1, 2])(
  'answers while tables are made anew, and then serves by %s processes',
  async (count) => {
    const old = await startOldDatabase('0028_years.sql');
    const command = (query: string) => old.client.command({ query });
    await command(
      "CREATE TABLE remake_lock (renewed DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY renewed",
    );
    const renew = () => command('INSERT INTO remake_lock SELECT now64(3)');
    await renew();
    const renewing = setInterval(() => void renew().catch(() => {}), 5_000);
    onTestFinished(() => clearInterval(renewing));
    const [port, operatorPort] = [await ownPort(), await ownPort()];
    const starting = startStack({
      env: { CLICKHOUSE_URL: old.engine.url, MILLRACE_OPERATOR_PORT: String(operatorPort) },
      args: ['--port', String(port), '--ingest', String(count)],
    });
    try {
      const migrating = { status: 503, body: 'migrating\n', retryAfter: '1' };
      for (const asked of [port, operatorPort]) {
        const readyz = () => ask(asked, '/readyz').catch((error: unknown) => error);
        await eventually(readyz, (answer) => !(answer instanceof Error));
        expect(await readyz()).toEqual(migrating);
        expect(await ask(asked, '/readyz?verbose')).toEqual(migrating);
        expect(await ask(asked, '/healthz')).toEqual({
          status: 200,
          body: 'ok\n',
          retryAfter: null,
        });
      }
      expect(await ask(port, '/sdk.events.v1.EventsService/BatchCreate', 'POST')).toEqual(
        migrating,
      );
      await command('DROP TABLE remake_lock SYNC');
      const stack = await starting;
      expect(await batchCreate(stack, [newEvent()])).toMatchObject({ status: 200 });
      for (const asked of [port, operatorPort]) {
        await expect
          .poll(() => ask(asked, '/readyz'))
          .toMatchObject({ status: 200, body: 'ready\n' });
      }
      const lines = stack
        .log()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      expect(lines).toContainEqual(
        expect.objectContaining({ msg: 'a migration begins', migration: '0028_years.sql' }),
      );
    } finally {
      await starting.then(
        (stack) => stack.stop(),
        () => {},
      );
      await old.stop();
    }
  },
);
