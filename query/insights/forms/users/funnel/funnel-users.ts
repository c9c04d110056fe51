// SQL for the users of a FUNNEL: `level`, the furthest step that each reached, `is_open`, whether an entry of theirs
// may still convert, `chain`, the times of the events with which they reached it, where timing is asked for, and the
// columns of the groups of their first entry. Over time they have `cells` in place of these.

import type { Question } from '../../../read/question.ts';
import { bucketPlaceSql } from '../../../sql/bucket-place.ts';
import { propertyTextSql } from '../../../sql/property-text.ts';
import {
  areOfPersons,
  eventOrderSql,
  groupColumns,
  momentSql,
  readEventsSql,
} from '../../../sql/read-events.ts';
import { firstGroupsSql, firstOfGroupsSql, groupColumnsSql } from '../grouped-users.ts';
import { anyOrderChainsSql, entryLevelsSql } from './funnel-entries.ts';
import {
  type Funnel,
  firstOfMaskSql,
  isEntrySql,
  lookedAt,
  stepMaskSql,
  stepSql,
  withEntriesInRange,
} from './funnel-steps.ts';
import { chainsSql, entriesSql, levelsSql } from './funnel-walk.ts';

/** A SELECT of those who have an entry. */
export function funnelUsersSql(question: Question, asked: Funnel): string {
  const funnel = withEntriesInRange(question, asked);
  const columns = groupColumnsSql(groupColumns(question.breakdowns.length));
  if (funnel.isOverTime) {
    return `SELECT ${columns}cells FROM (${bucketsSql(question, funnel)})`;
  }
  const users =
    funnel.held === undefined ? attemptsSql(question, funnel) : heldSql(question, funnel);
  const chain = funnel.withTiming ? ', chain' : '';
  const took = funnel.optional.length > 0 ? ', took' : '';
  return `SELECT ${columns}level, is_open${chain}${took} FROM (${users})`;
}

/** Of users with several values of the held property: who went furthest, first and fastest counts. */
function heldSql(question: Question, funnel: Funnel): string {
  const columns = [
    ...(question.breakdowns.length === 0
      ? []
      : [`${firstOfGroupsSql(question.breakdowns, 'attempt')} AS groups`]),
    'max(attempt.level) AS level',
    'max(attempt.is_open) AS is_open',
    ...(funnel.withTiming
      ? [
          'argMax(attempt.chain, (attempt.level, -toInt64(attempt.chain[-1]), arrayReverse(attempt.chain))) AS chain',
        ]
      : []),
    ...(funnel.optional.length > 0 ? ['groupUniqArrayArray(attempt.took) AS took'] : []),
  ];
  return `SELECT ${columns.join(', ')} FROM (${attemptsSql(question, funnel)}) AS attempt GROUP BY user_key`;
}

/** Of the cells of a bucket: how many there are of each, more than there are levels. */
export const cellsOfBucket = 32;

/** The cell of the users who took an optional step; the same of one that SQL names. */
export const tookCell = (step: number): number => -step;
export const tookCellSql = (step: string): string => `-${step}`;

/**
 * `cells`: (number, is_open) of the whole range, whose number is the level, and of each bucket with an entry, whose
 * number is the level and `cellsOfBucket` times the bucket's place from 1.
 */
function bucketsSql(question: Question, funnel: Funnel): string {
  const { buckets, breakdowns } = question;
  const grouped = (of: string): string => {
    if (breakdowns.length === 0) return '';
    const order = asksOrder(breakdowns) ? `min(${of}.first_order) AS first_order, ` : '';
    return `${firstOfGroupsSql(breakdowns, of)} AS groups, ${order}`;
  };
  const place = bucketPlaceSql(question, buckets, '(toInt64(entry.1) - 1)');
  const ofBuckets = `SELECT user_key, ${grouped('attempt')}toInt64(${place}) AS place,
      max(entry.2) AS level, max(entry.1) AS last_entry
    FROM (${attemptsSql(question, funnel)}) AS attempt
    ARRAY JOIN arrayFilter(pair -> pair.1 != 0, arrayZip(entries, levels)) AS entry GROUP BY user_key, place`;
  const whole = `(toInt64(max(one.level)), ${isOpenSql(funnel, 'max(one.last_entry)')})`;
  const cell = `((one.place + 1) * ${cellsOfBucket} + one.level, ${isOpenSql(funnel, 'one.last_entry')})`;
  return `SELECT ${grouped('one')}arrayPushFront(groupArray(${cell}), ${whole}) AS cells
    FROM (${ofBuckets}) AS one GROUP BY user_key`;
}

/** Groups of persons are those of all their events. */
function asksOrder(breakdowns: readonly string[]): boolean {
  return breakdowns.length > 0 && !areOfPersons(breakdowns);
}

/** `entry` is SQL for a time of arrays. */
function isOpenSql({ openFromMs }: Funnel, entry: string): string {
  return openFromMs === undefined ? 'false' : `(${entry} > ${openFromMs})`;
}

/** The engine's own function counts as this product does. */
function isEngines(funnel: Funnel): boolean {
  const { order, mayOverlap, exclusions, optional, isFirstOnly, isOverTime } = funnel;
  const hasMore = mayOverlap || isFirstOnly || isOverTime;
  return order === 'ordered' && !hasMore && exclusions.length + optional.length === 0;
}

/** Its times must not be signed. */
function reachedSql({ steps, windowMs }: Funnel): string {
  const conditions = steps.map((_, index) => `step = ${index + 1}`);
  return `windowFunnel(${windowMs})(toUInt64(toUnixTimestamp64Milli(occur_time)), ${conditions.join(', ')})`;
}

// A mark is one number that orders the events of a user: the milliseconds plus one, so that none is 0, then the step.
const stepBits = 5;
const timeSql = 'toUInt64(toUnixTimestamp64Milli(occur_time) + 1)';
// Below the step, where events may match several: the id, then the mask of the steps and exclusions.
const maskBits = 30;
const idBits = 128;

/** A row for each user, or for each of their values of the held property, with what was reached. */
function attemptsSql(question: Question, funnel: Funnel): string {
  const isEngine = isEngines(funnel);
  const columns = attemptColumns(question, funnel);
  const from = `FROM (${eventsSql(question, funnel)}) WHERE user_key != 0 GROUP BY ${
    funnel.held === undefined ? 'user_key' : 'user_key, held'
  }`;
  if (isEngine) {
    const open = isOpenSql(funnel, `maxIf(${timeSql}, step = 1)`);
    columns.push(`${reachedSql(funnel)} AS level`, `${open} AS is_open`);
    if (!funnel.withTiming) return `SELECT ${columns.join(', ')} ${from} HAVING level > 0`;
    // Only events of those who reached a second step are looked at again.
    const marks = `SELECT ${[...columns, `groupArray(${markSql(funnel)}) AS marks`].join(', ')} ${from} HAVING level > 0`;
    const users = entriesSql(funnel, arraysSql(funnel, marks, 'level > 1'), question.toMs);
    return chainsSql(funnel, users, { hasLevel: true });
  }
  const marks = `SELECT ${[...columns, `groupArray(${markSql(funnel)}) AS marks`].join(', ')} ${from}
    HAVING max(${isEntryRowSql(question, funnel)})`;
  const users = entriesSql(funnel, arraysSql(funnel, marks), question.toMs);
  if (funnel.isOverTime) return entryLevelsSql(funnel, users);
  return `SELECT *, ${isOpenSql(funnel, 'arrayMax(entries)')} AS is_open FROM (${walkSql(funnel, users)})`;
}

function walkSql(funnel: Funnel, users: string): string {
  if (funnel.order !== 'any') {
    return funnel.withTiming
      ? chainsSql(funnel, users, { hasLevel: false })
      : levelsSql(funnel, users);
  }
  return funnel.withTiming
    ? anyOrderChainsSql(funnel, users)
    : `SELECT *, arrayMax(levels) AS level FROM (${entryLevelsSql(funnel, users)})`;
}

/** What is known of a user beside the events. */
function attemptColumns(question: Question, funnel: Funnel): string[] {
  const { breakdowns } = question;
  const isCombined = funnel.held !== undefined || funnel.isOverTime;
  const names = groupColumns(breakdowns.length);
  const isEntry = isEntryRowSql(question, funnel);
  return [
    ...(isCombined ? ['user_key'] : []),
    ...(names.length > 0
      ? [`${firstGroupsSql(breakdowns, eventOrderSql, isEntry)} AS groups`]
      : []),
    ...(isCombined && asksOrder(breakdowns)
      ? [`minIf(${eventOrderSql}, ${isEntry}) AS first_order`]
      : []),
  ];
}

function isEntryRowSql({ toMs, bindings }: Question, funnel: Funnel): string {
  const matched = funnel.mayOverlap ? 'mask' : 'step';
  return isEntrySql(funnel, matched, `occur_time < ${momentSql(toMs, bindings)}`);
}

function markSql({ mayOverlap }: Funnel): string {
  if (!mayOverlap) return `bitShiftLeft(${timeSql}, ${stepBits}) + step`;
  const timeAndStep = `bitShiftLeft(toUInt256(bitShiftLeft(${timeSql}, ${stepBits}) + ${firstOfMaskSql}), ${idBits + maskBits})`;
  return `${timeAndStep} + bitShiftLeft(toUInt256(toUInt128(event_id)), ${maskBits}) + mask`;
}

/** Adds `times` and `matched` to rows with marks, of those for whom `isWanted` holds. */
function arraysSql({ mayOverlap }: Funnel, marks: string, isWanted?: string): string {
  const sorted = isWanted ? `if(${isWanted}, arraySort(marks), [])` : 'arraySort(marks)';
  const [time, matched] = mayOverlap
    ? [
        `toUInt64(bitShiftRight(mark, ${stepBits + idBits + maskBits}))`,
        `toUInt32(bitAnd(mark, ${2 ** maskBits - 1}))`,
      ]
    : [`bitShiftRight(mark, ${stepBits})`, `toUInt8(bitAnd(mark, ${2 ** stepBits - 1}))`];
  return `SELECT * EXCEPT (marks), ${sorted} AS sorted, arrayMap(mark -> ${time}, sorted) AS times,
      arrayMap(mark -> ${matched}, sorted) AS matched FROM (${marks})`;
}

const noSession = "toUUID('00000000-0000-0000-0000-000000000000')";
/** The name by which the session of an event is held. */
const sessionName = '$sessionId';

/** SELECT of the events that are looked at: in the range, and as long after it as a window is. */
function eventsSql(question: Question, funnel: Funnel): string {
  const { held } = funnel;
  const columns: Record<string, string> = funnel.mayOverlap
    ? { mask: stepMaskSql(funnel) }
    : { step: stepSql(funnel) };
  if (held === sessionName) columns['held'] = 'session_id';
  else if (held !== undefined) {
    columns['held'] = propertyTextSql(held, question.bindings, question.typesOf(held));
  }
  const events = readEventsSql(question, {
    ...{ condition: lookedAt(funnel), columns, withUser: true },
    ...{ groups: question.breakdowns, toMs: question.toMs + funnel.windowMs },
  });
  if (held === undefined) return events;
  const has = held === sessionName ? `held != ${noSession}` : "held NOT IN ('', '=')";
  return `SELECT * FROM (${events}) WHERE ${has}`;
}
