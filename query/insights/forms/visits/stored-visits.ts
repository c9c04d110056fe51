// Which questions about visits are answered from the tables that have a row for each UTC day of a session, and which of
// those that are asked at once are one statement: finding the visits costs more than what is counted of them.
// ended-visits.ts and stored-entries.ts have the SQL.

import { columnOfProperty } from '../../../../platform/clickhouse/event-columns.ts';
import { SessionMetric } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Question, withJointBindings } from '../../read/question.ts';
import { type Need, needOf, sourceOf } from '../../sources/ladder.ts';
import type { Plan } from '../plan.ts';
import { maxJointParts, unlike } from '../series/joint-parts.ts';
import { type EndedPart, endedVisitsSql, exitColumns } from './ended-visits.ts';
import { withKeptVisits } from './kept-visits.ts';
import {
  entriesOfKindSql,
  entryColumns,
  storedEntriesSql,
  storedLengthsSql,
  visitsByKindSql,
} from './stored-entries.ts';
import { readVisits, type VisitRead, viewKind } from './visit.ts';
import type { VisitDays } from './visit-days.ts';
import { type VisitCells, widthOf } from './visit-groups.ts';

export interface StoredVisits extends Pick<Plan, 'joint'> {
  cells: Pick<VisitCells, 'sql' | 'groups'>;
  /** Which part of the rows answers the question. */
  part: number;
  /** Of the statement. */
  parts: number;
}

/** What a question asks of a table. */
interface Asked extends Omit<EndedPart, 'part'> {
  of: 'entries' | 'ends';
}

type AskedPart = Asked & EndedPart;

/** Undefined where the tables cannot tell. */
export function storedVisits(question: Question, read: VisitRead): StoredVisits | undefined {
  const columns = storedColumns(question, read);
  if (columns === undefined) return undefined;
  if (isByEdge(read, columns)) {
    const width = columns.length;
    const cells = edgesWriter(question, read, columns);
    const sql = withKeptVisits(question, { width, series: [{ width, sql: cells }], sql: cells });
    return { cells: { sql, groups: width }, part: 0, parts: 1 };
  }
  const own = askedOf(read, columns);
  const beside = question.beside.length > maxJointParts ? [] : question.beside;
  const others = beside.filter((other) => isOfSameVisits(question, other));
  const asked = unlike([own, ...others.flatMap((other) => askedByOther(other) ?? [])], keyOf);
  const joint = withJointBindings(question);
  const parts = asked.map((one, part) => ({ ...one, part }));
  const width = widthOf(parts);
  const series = parts.map((one) => ({
    width: one.columns.length,
    sql: (days: VisitDays) => partsOf(joint, [{ ...one, part: 0 }], days),
  }));
  const sql = withKeptVisits(joint, {
    ...{ width, series },
    sql: (days) => partsOf(joint, parts, days),
  });
  return {
    cells: { sql, groups: width },
    joint,
    part: asked.findIndex((one) => keyOf(one) === keyOf(own)),
    parts: parts.length,
  };
}

/** How the cells of a question that no other shares are written. */
function edgesWriter(
  question: Question,
  read: VisitRead,
  columns: readonly string[],
): (days: VisitDays) => string {
  if (read.edgeKind === '') return (days) => storedLengthsSql(question, columns, days);
  const isOfEntries = read.edge === 'first' && columns.every((one) => entryColumns.includes(one));
  const write = isOfEntries ? entriesOfKindSql : visitsByKindSql;
  return (days) => write(question, read, columns, days);
}

function partsOf(question: Question, parts: readonly AskedPart[], days: VisitDays): string {
  const width = widthOf(parts);
  return [
    { of: 'ends', write: endedVisitsSql },
    { of: 'entries', write: storedEntriesSql },
  ]
    .flatMap(({ of, write }) => {
      const some = parts.filter((one) => one.of === of);
      return some.length === 0 ? [] : [write(question, some, width, days)];
    })
    .join(' UNION ALL ');
}

/** The columns of the breakdowns; undefined where the tables cannot tell. */
function storedColumns(question: Question, read: VisitRead): string[] | undefined {
  const { edge, edgeKind } = read;
  const columns = question.breakdowns.map((property) =>
    columnIn(edgeKind === '' ? entryColumns : undefined, question, property),
  );
  // Of the last event of all, the tables know nothing.
  const isOfLast = edge === 'last' && edgeKind === '' && columns.length > 0;
  const found = isWhole(columns) && !isOfLast ? columns : undefined;
  return sourceOf(question, visitsNeed(question, read, found)) === 'visits' ? found : undefined;
}

/** `columns` are those of the breakdowns in the tables of visits; undefined where these lack one. */
export function visitsNeed(
  question: Question,
  { someEvent, edgeEvent }: VisitRead,
  columns: readonly string[] | undefined,
): Need {
  const groups = question.breakdowns;
  const hasVisitGroups = columns !== undefined;
  return needOf(question, someEvent, { count: 'visits', edge: edgeEvent, groups, hasVisitGroups });
}

/** Whether the event that tells a visit's groups is looked up for each visit: then no other question shares it. */
function isByEdge(read: VisitRead, columns: readonly string[]): boolean {
  if (isByExit(read)) return !columns.every((column) => exitColumns.includes(column));
  const { edge, edgeKind, countsOnly } = read;
  return edgeKind !== '' || (edge === 'first' && !countsOnly && columns.length > 0);
}

function isByExit({ edge, edgeKind }: VisitRead): boolean {
  return edge === 'last' && edgeKind === viewKind;
}

function askedOf(read: VisitRead, columns: readonly string[]): Asked {
  const byExit = isByExit(read);
  return { of: byExit || columns.length === 0 ? 'ends' : 'entries', columns, byExit };
}

/** Of a question that the tables answer together with others. */
function askedByOther(question: Question): Asked | undefined {
  const { metric = SessionMetric.UNSPECIFIED, scope } = question.spec.session ?? {};
  // These are refused when they are asked.
  const isPlain = question.spec.events.length === 0 && (scope?.filters.length ?? 0) === 0;
  if (metric === SessionMetric.UNSPECIFIED || !isPlain) return undefined;
  const read = readVisits(question);
  const columns = storedColumns(question, read);
  return columns === undefined || isByEdge(read, columns) ? undefined : askedOf(read, columns);
}

function isOfSameVisits(one: Question, other: Question): boolean {
  return visitsKeyOf(one) === visitsKeyOf(other);
}

function visitsKeyOf({ fromMs, toMs, buckets, groupLimit }: Question): string {
  return JSON.stringify([fromMs, toMs, buckets, groupLimit]);
}

function keyOf({ of, columns, byExit }: Asked): string {
  return JSON.stringify([of, columns, byExit]);
}

/**
 * `columns` are those of the table, every one unless given. Undefined for a property that it lacks, or that may have
 * had values besides those of its column.
 */
function columnIn(
  columns: readonly string[] | undefined,
  { typesOf }: Question,
  property: string,
): string | undefined {
  const types = typesOf(property);
  const isText = types !== undefined && [...types].every((type) => type === 'column');
  const column = columnOfProperty.get(property)?.column ?? '';
  const isThere = columns?.includes(column) ?? column !== '';
  return isText && isThere ? column : undefined;
}

function isWhole(columns: readonly (string | undefined)[]): columns is string[] {
  return columns.every((column) => column !== undefined);
}
