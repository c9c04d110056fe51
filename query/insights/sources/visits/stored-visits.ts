// Which questions about visits are answered from the tables that have a row for each UTC day of a session, and how:
// ended-visits.ts and stored-entries.ts have the SQL.

import { columnOfProperty } from '../../../../platform/clickhouse/event-columns.ts';
import { both, eventsWhere } from '../../read/event-condition.ts';
import { isOfColumn } from '../../read/property-types.ts';
import type { Question } from '../../read/question.ts';
import { endedVisitsSql, exitColumns } from './ended-visits.ts';
import { rawCellsSql } from './raw-visits.ts';
import { entryColumns, storedEntriesSql } from './stored-entries.ts';
import { type VisitRead, viewKind } from './visit.ts';
import type { VisitDays } from './visit-days.ts';

/** Writes the cells of visits; undefined where the tables cannot tell. */
export function storedVisits(
  question: Question,
  read: VisitRead,
): ((days: VisitDays) => string) | undefined {
  const { edge, edgeKinds, metric } = read;
  const byExit = edge === 'last' && edgeKinds.length === 1 && edgeKinds[0] === viewKind;
  const columns = columnsIn(byExit ? exitColumns : entryColumns, question);
  if (columns === undefined) return undefined;
  const width = columns.length;
  if (byExit || (width === 0 && edgeKinds.length === 0)) {
    return (days) => endedVisitsSql(question, { byExit, width }, days);
  }
  // No table has the last event of another kind, and none has both how long a visit is and where it began.
  if (edge === 'last' || metric.measure.isRatio) return undefined;
  return edgeKinds.length === 0
    ? (days) => storedEntriesSql(question, columns, days)
    : (days) => entriesOfKindSql(question, read, columns, days);
}

/**
 * Nearly all sessions begin with a kind that is asked for: their first events are in visit_entries. Only of sessions
 * that have a day that begins otherwise all events are read.
 */
function entriesOfKindSql(
  question: Question,
  read: VisitRead,
  columns: readonly string[],
  days: VisitDays,
): string {
  const kinds = question.bindings.bind('Array(String)', read.edgeKinds);
  const isOther = `session_id IN (SELECT session_id FROM visit_entries
    WHERE project_id = ${question.project} AND ${days.inWindow} AND kind NOT IN ${kinds})`;
  const condition = both(days.events.condition, eventsWhere(isOther));
  const others = { ...days, events: { ...days.events, condition } };
  return `${storedEntriesSql(question, columns, days, `NOT ${isOther}`)}
    UNION ALL ${rawCellsSql(question, read, others)}`;
}

/**
 * The columns of the breakdowns. Undefined where one is none of `columns`, or of a property that may have had values
 * besides those of its column.
 */
function columnsIn(columns: readonly string[], question: Question): string[] | undefined {
  const found = question.breakdowns.map((property) => {
    const column = columnOfProperty.get(property)?.column ?? '';
    const isKnown = columns.includes(column) && isOfColumn(question.typesOf(property));
    return isKnown ? column : undefined;
  });
  return found.every((column) => column !== undefined) ? found : undefined;
}
