// More past for a stored shop: the engine itself copies all events into the stretches of time before them, with other
// event ids and other visits of the same people.

import type { Stack } from '../../../test/harness/servers/stack.ts';
import { runStatement } from '../engine/engine-statement.ts';
import { untilMerged } from '../engine/merges.ts';
import type { Shop } from './shop.ts';
import { startMsOf } from './shop.ts';

const hourMs = 3_600_000;
/** Of one insert: some 80,000 events of a shop with 20 million. */
const sliceMs = 6 * hourMs;

/** Stores `copies` copies, each a whole shop further back, newest first; all views are fed. */
export async function storeOlderCopies(
  stack: Stack,
  shop: Shop,
  copies: number,
  say: (line: string) => void,
): Promise<void> {
  for (let copy = 1; copy <= copies; copy++) {
    for (let fromMs = startMsOf(shop); fromMs < shop.endMs; fromMs += sliceMs) {
      await runStatement(stack, copySql(copy, shop.days, fromMs, fromMs + sliceMs));
    }
    await untilMerged(stack);
    say(`${copy} of ${copies} older copies stored`);
  }
}

function copySql(copy: number, days: number, fromMs: number, toMs: number): string {
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
    SELECT * FROM events WHERE occur_time >= fromUnixTimestamp64Milli(${fromMs}) AND occur_time < fromUnixTimestamp64Milli(${toMs}))`;
}
