// What each statement says to a server that replicates its tables, so that an insert which was acknowledged is at most
// servers of the group, and a read finds it at each of them. sql/README.md has the reasons.

import type { ClickHouseClient } from '@clickhouse/client';

/** A read of a server that lacks an acknowledged insert fails (REPLICA_IS_NOT_IN_QUORUM). */
export const readSettings = { select_sequential_consistency: '1' } as const;

export const replicatedSettings = {
  ...readSettings,
  insert_quorum: 'auto',
  // Sequential reads know no inserts side by side.
  insert_quorum_parallel: 0,
  // Half of what a request may take.
  insert_quorum_timeout: 30_000,
} as const;

/** A server refuses an insert beside another one of the same table: those of this client run one after the other. */
export function insertInTurns(client: Pick<ClickHouseClient, 'command' | 'exec' | 'insert'>): void {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const run = last.then(work);
    last = run.catch(() => {});
    return run;
  };
  const isInsert = (query: string): boolean => /^\s*INSERT\b/i.test(query);
  const [command, exec, insert] = [
    client.command.bind(client),
    client.exec.bind(client),
    client.insert.bind(client),
  ];
  client.command = (params) =>
    isInsert(params.query) ? inTurn(() => command(params)) : command(params);
  client.exec = (params) => (isInsert(params.query) ? inTurn(() => exec(params)) : exec(params));
  client.insert = (params) => inTurn(() => insert(params));
}
