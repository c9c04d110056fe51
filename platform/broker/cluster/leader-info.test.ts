// What asks a stream's leader at the start asks again in a cluster, and fails at once where there is one server.

import { expect, it } from 'vitest';
import type { NatsConnection } from '../nats.ts';
import { withinGrace } from './leader-info.ts';

const asked = async (cluster: string | undefined, failures: number): Promise<number> => {
  let asks = 0;
  // What it reads of a connection is the server's word about its cluster.
  const connection = { info: { cluster } } as Pick<NatsConnection, 'info'>;
  const ask = async (): Promise<void> => {
    asks += 1;
    if (asks <= failures) throw new Error('the stream x has no leader');
  };
  await withinGrace(connection, ask);
  return asks;
};

it('asks a cluster again until it has a leader', async () => {
  expect(await asked('three', 2)).toBe(3);
});

it('asks one server once', async () => {
  expect(await asked(undefined, 0)).toBe(1);
  await expect(asked(undefined, 1)).rejects.toThrow('has no leader');
});
