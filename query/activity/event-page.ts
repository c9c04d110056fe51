// A page of the stored events of one project, newest first, for every method that answers events. A page token names
// its page's last event, so that events that arrive meanwhile move nothing: no event comes twice. Rules of requests
// are activity-selection.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { encodeCursor } from '../cursor.ts';
import type { Deadline } from '../deadline.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { type ReadBounds, readRows, type Statement } from '../read-rows.ts';
import type { ActivitySelection } from './activity-selection.ts';
import { personConditions } from './person-events.ts';
import { readStoredEvent, storedEventSql } from './stored-event.ts';
import { newestFirst, type TimeWindow } from './time-windows.ts';

// Larger pages end early, and their token leads on.
const maxPageCharacters = 8_388_608;
const wide = { firstDays: 1, growth: 8 };
/**
 * For the events of one user or visit, which the indexes find in a long range as cheaply as in a day. The second window
 * takes the rest of the range, as few users fill a page with the first.
 */
const narrow = { firstDays: 16, growth: 64 };

export interface EventPageOptions {
  clickhouse: RowReader;
  clock: Clock;
}

export interface EventPage {
  /** Their profile ids are those before merges. */
  events: ActivityEvent[];
  /** Empty where there are no more. */
  nextPageToken: string;
}

/** `standIns` as for readStoredEvent. Throws the client's errors. */
export async function readEventPage(
  options: EventPageOptions,
  selection: ActivitySelection,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<EventPage> {
  const { rows, hasMore } = await readPage(options, selection, deadline);
  const read = rows.slice(0, selection.pageSize).map((row) => readStoredEvent(row, standIns));
  const last = read.at(-1);
  const isLast = !hasMore || last === undefined;
  return {
    events: read.map(({ event }) => event),
    nextPageToken: isLast ? '' : encodeCursor(last.position, selection.conditions),
  };
}

interface Page {
  /** At most pageSize + 1. */
  rows: unknown[][];
  hasMore: boolean;
}

async function readPage(
  { clickhouse, clock }: EventPageOptions,
  selection: ActivitySelection,
  deadline: Deadline,
): Promise<Page> {
  const { fromMs, toMs, after, pageSize, isNarrow } = selection;
  const range = {
    fromMs,
    toMs: after === undefined ? toMs : Math.min(toMs, after.timeMs + 1),
  };
  const { firstDays, growth } = isNarrow ? narrow : wide;
  const person = await personConditions(clickhouse, selection, deadline);
  const rows: unknown[][] = [];
  let characters = 0;
  for (const window of newestFirst(range, clock.nowMs(), firstDays, growth)) {
    const part = await readWindow(clickhouse, selection, person, window, {
      deadline,
      maxRows: pageSize + 1 - rows.length,
      maxCharacters: maxPageCharacters - characters,
    });
    rows.push(...part.rows);
    characters += part.characters;
    if (part.stopped) return { rows, hasMore: true };
    if (rows.length > pageSize) return { rows, hasMore: true };
  }
  return { rows, hasMore: false };
}

/** Asks again for fewer events if the engine lacks the memory for so many of their size. */
async function readWindow(
  clickhouse: RowReader,
  selection: ActivitySelection,
  person: readonly string[],
  window: TimeWindow,
  bounds: ReadBounds,
): Promise<{ rows: unknown[][]; characters: number; stopped: boolean }> {
  for (let maxRows = bounds.maxRows; ; maxRows = Math.ceil(maxRows / 8)) {
    const statement = windowStatement(selection, person, window, maxRows);
    const result = await readRows(clickhouse, statement, { ...bounds, maxRows });
    switch (result.kind) {
      case 'rows': {
        const isShort = maxRows < bounds.maxRows && result.rows.length === maxRows;
        return { ...result, stopped: result.stopped || isShort };
      }
      case 'too-large':
        if (maxRows > 1) break;
        throw new ConnectError('the events are too large to be read', Code.ResourceExhausted);
      default: {
        const unknown: never = result;
        throw new Error(`no such result: ${String(unknown)}`);
      }
    }
  }
}

// As a number, event_id sorts like its text; ClickHouse's order of UUIDs is another.
const order = 'occur_time DESC, toUInt128(event_id) DESC';

function windowStatement(
  { condition, bindings, after }: ActivitySelection,
  person: readonly string[],
  window: TimeWindow,
  maxRows: number,
): Statement {
  const conditions = [
    condition,
    ...person,
    `occur_time >= ${moment('fromMs')}`,
    `occur_time < ${moment('toMs')}`,
  ];
  if (after !== undefined) {
    conditions.push(
      `(occur_time, toUInt128(event_id)) < (${moment('afterMs')}, toUInt128({afterId:UUID}))`,
    );
  }
  return {
    sql: `SELECT ${storedEventSql} FROM events WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT {maxRows:UInt32}`,
    params: {
      ...bindings.params,
      ...window,
      ...(after && { afterMs: after.timeMs, afterId: after.id }),
      maxRows,
    },
  };
}

function moment(param: 'fromMs' | 'toMs' | 'afterMs'): string {
  return `fromUnixTimestamp64Milli({${param}:Int64}, 'UTC')`;
}
