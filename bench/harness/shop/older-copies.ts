// More past for a stored shop: the engine itself copies all events into the stretches of time before them, with other
// event ids and other visits of the same people.

import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check } from '../../bench.ts';
import { runStatement } from '../engine/engine-statement.ts';
import { untilMerged } from '../engine/merges.ts';
import { queryNumber } from '../load/stored-rows.ts';
import type { Shop } from './shop.ts';
import { startMsOf } from './shop.ts';

/** Of one insert, in about: the views of so many fit into a statement's memory. */
const sliceEvents = 80_000;

/**
 * Stores `copies` copies of the project's events, each a whole shop further back, newest first; all views are fed.
 * Throws where a row is missing or too many.
 */
export async function storeOlderCopies(
  stack: Stack,
  shop: Shop,
  copies: number,
  say: (line: string) => void,
): Promise<void> {
  const { projectId } = stack;
  const wholeMs = shop.endMs - startMsOf(shop);
  const sliceMs = Math.ceil(Math.min(1, sliceEvents / shop.events) * wholeMs);
  const copied = await countBetween(stack, startMsOf(shop), shop.endMs);
  for (let copy = 1; copy <= copies; copy++) {
    for (let fromMs = startMsOf(shop); fromMs < shop.endMs; fromMs += sliceMs) {
      const toMs = Math.min(shop.endMs, fromMs + sliceMs);
      await runStatement(stack, copySql(projectId, { copy, days: shop.days, fromMs, toMs }));
    }
    await untilMerged(stack);
    const backMs = copy * wholeMs;
    const stored = await countBetween(stack, startMsOf(shop) - backMs, shop.endMs - backMs);
    check(stored >= copied, `copy ${copy} has all of ${copied} events, not ${stored}`);
    say(`${copy} of ${copies} older copies stored`);
  }
}

function countBetween(stack: Stack, fromMs: number, toMs: number): Promise<number> {
  const { projectId } = stack;
  return queryNumber(
    stack,
    `SELECT count() FROM events WHERE ${betweenSql(projectId, fromMs, toMs)}`,
  );
}

function betweenSql(projectId: string, fromMs: number, toMs: number): string {
  return `project_id = '${projectId}' AND occur_time >= fromUnixTimestamp64Milli(${fromMs}) AND occur_time < fromUnixTimestamp64Milli(${toMs})`;
}

interface Slice {
  copy: number;
  days: number;
  fromMs: number;
  toMs: number;
}

function copySql(projectId: string, { copy, days, fromMs, toMs }: Slice): string {
  const shift = `toIntervalDay(${copy * days})`;
  const id = (of: string): string => `reinterpretAsUUID(sipHash128(${of}, ${copy}))`;
  const replaced = [
    `${id('event_id')} AS event_id`,
    `${id('session_id')} AS session_id`,
    `occur_time - ${shift} AS occur_time`,
    `receive_time - ${shift} AS receive_time`,
  ];
  // The condition reads the column of the table, and not the shifted one of the same name.
  return `INSERT INTO events SELECT * REPLACE (${replaced.join(', ')}) FROM (
    SELECT * FROM events WHERE ${betweenSql(projectId, fromMs, toMs)})`;
}
