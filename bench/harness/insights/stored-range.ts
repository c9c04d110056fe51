// The time that questions ask about, and what the events of it cost to keep.

import type { Stack } from '../../../test/harness/servers/stack.ts';
import type { Table } from '../../bench.ts';
import { runStatement } from '../engine/engine-statement.ts';
import { queryNumber } from '../load/stored-rows.ts';
import type { Asked } from './question.ts';

/** A zone that is neither UTC nor off by whole days of it, and that changes its clocks. */
const timezone = 'Europe/Berlin';

/** The last `days` whole days before `endMs`, in the zone that all questions follow. */
export async function rangeOf(stack: Stack, days: number, endMs: number): Promise<Asked> {
  const end = `toStartOfDay(fromUnixTimestamp64Milli(${endMs}), '${timezone}')`;
  const moment = (of: string): Promise<number> =>
    queryNumber(stack, `SELECT toUnixTimestamp(${of})`);
  const [from, to] = [await moment(`${end} - INTERVAL ${days} DAY`), await moment(end)];
  return { fromMs: from * 1_000, toMs: to * 1_000, timezone };
}

const quarterMs = 15 * 60_000;
/** A day has so many. */
const quarters = 96;

/**
 * The same range, some quarters of an hour shorter: another question, so that no answer is kept whole. As with every
 * range until now, its last day is not whole.
 */
export function turned(asked: Asked, turn: number): Asked {
  return { ...asked, toMs: asked.toMs - (1 + (turn % (quarters - 1))) * quarterMs };
}

/** Their clocks show what that of all questions shows, so that answers are the same. */
const otherZones = [
  ...['Andorra', 'Belgrade', 'Bratislava', 'Brussels', 'Budapest', 'Busingen', 'Copenhagen'],
  ...['Gibraltar', 'Ljubljana', 'Luxembourg', 'Madrid', 'Malta', 'Monaco', 'Oslo', 'Paris'],
  ...['Podgorica', 'Prague', 'Rome', 'San_Marino', 'Sarajevo', 'Skopje', 'Stockholm', 'Tirane'],
  ...['Vaduz', 'Vatican', 'Vienna', 'Warsaw', 'Zagreb', 'Zurich', 'Amsterdam'],
]
  .map((city) => `Europe/${city}`)
  .concat('Arctic/Longyearbyen', 'Africa/Ceuta', 'Atlantic/Jan_Mayen', 'Poland', 'CET', 'MET');
let zonesAsked = 0;

/**
 * The same as a question that nobody has asked: days are kept by their zone, and several questions may keep the same.
 * There are zones for twelve questions that are asked three times.
 */
export function inFreshZone(asked: Asked): Asked {
  const timezone = otherZones[zonesAsked++ % otherZones.length] ?? asked.timezone;
  return { ...asked, timezone };
}

/** Bytes on disk of each table, for each stored event. */
export async function storedBytes(stack: Stack): Promise<Table> {
  const text = await runStatement(
    stack,
    `SELECT table, sum(rows) AS all_rows, sum(bytes_on_disk) / (SELECT count() FROM events), count()
      FROM system.parts WHERE active AND database = currentDatabase() AND table NOT LIKE 'schema%'
      GROUP BY table ORDER BY all_rows DESC, table FORMAT TabSeparated`,
  );
  const rows = text
    .trim()
    .split('\n')
    .map((line) => {
      const [table = '', all = '', bytes = '', parts = ''] = line.split('\t');
      return [table, all, Number(bytes).toFixed(1), parts];
    });
  return {
    title: 'What is stored',
    columns: ['table', 'stored rows', 'bytes an event', 'parts'],
    rows,
  };
}
