import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ConnectionTurns } from './connection-turns.ts';

it('serves a burst in order, eight in a turn, and a lone one at once', async () => {
  const turns = new ConnectionTurns();
  const served: number[] = [];
  const begin = (connection: number) => turns.begin(() => served.push(connection));

  for (let connection = 0; connection < 20; connection++) begin(connection);
  expect(served).toHaveLength(8);
  await nextTurn();
  expect(served).toHaveLength(16);
  begin(20);
  expect(served).toHaveLength(16);
  await nextTurn();
  expect(served).toEqual(Array.from({ length: 21 }, (_, connection) => connection));

  await nextTurn();
  begin(21);
  expect(served.at(-1)).toBe(21);
});
