// How an export is cut into files: events by days, so that each file has some hundred thousand of them, persons by
// shares of their ids. The plan is a file beside the parts, written before the first of them, so that whoever goes on
// after a kill writes the others as they were meant.

import { collectRows, type RowReader } from '../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../platform/clock.ts';
import { maxParts } from '../../platform/exports/export-record.ts';
import { fieldOf } from '../../platform/json.ts';
import type { ExportAsked } from '../export/export-request.ts';
import { flatNamesOf, selectWith, statementOf } from '../export/export-select.ts';
import type { FlatNames } from '../export/flat-columns.ts';
import { type PlannedSegments, plannedSegments, readPlannedSegments } from './planned-segments.ts';

export interface PartPlan {
  partCount: number;
  /** Of events: where each file begins and the last one ends, in milliseconds since the epoch. Of persons empty. */
  cuts: readonly number[];
  /** With columns=flat: the same names in each file. */
  flat?: FlatNames;
  /** Where the question names segments: their conditions are the same for each file. */
  listed?: PlannedSegments;
  /** Of a file: names, and types as ClickHouse calls them. */
  schema: readonly { name: string; type: string }[];
}

export const planFile = 'plan.json';
const maxPlanCharacters = 16 * 1_048_576;
/** A larger project has larger files, and never more than its record can name. */
const usualParts = 150;

/** `partRows`: how many rows a file has unless there were too many files. Throws the client's errors. */
export async function planParts(
  clickhouse: RowReader,
  projectId: string,
  asked: ExportAsked,
  { partRows, signal }: { partRows: number; signal: AbortSignal },
): Promise<PartPlan> {
  const flat = await flatNamesOf(clickhouse, projectId, asked, signal);
  const { sql, params } = statementOf(projectId, asked, flat);
  const read = async (text: string): Promise<unknown[][]> => {
    const select = selectWith({ sql: text, params }, asked, signal);
    const { rows } = await collectRows(clickhouse, select, maxPlanCharacters);
    return rows;
  };
  const described = await read(`DESCRIBE (${sql})`);
  const schema = described.map(([name, type]) => ({ name: String(name), type: String(type) }));
  const listed = plannedSegments(asked.listed);
  const shared = { schema, ...(flat && { flat }), ...(listed && { listed }) };
  if (asked.what !== 'events') {
    const [[count] = []] = await read(`SELECT toString(count()) FROM (${sql})`);
    const partCount = Math.min(maxParts, Math.max(1, Math.ceil(Number(count) / partRows)));
    return { ...shared, partCount, cuts: [] };
  }
  const days = await read(
    `SELECT toString(intDiv(toUnixTimestamp64Milli(occur_time), ${dayMs})) AS day, toString(count())
      FROM (${sql}) GROUP BY day ORDER BY toInt64(day)`,
  );
  const counts = days.map(([day, rows]) => ({ day: Number(day), rows: Number(rows) }));
  const cuts = cutsOf(asked, counts, partRows);
  return { ...shared, partCount: cuts.length - 1, cuts };
}

/** Whole days where one is not too large; a larger one is cut into equal times. */
export function cutsOf(
  { fromMs, toMs }: Pick<ExportAsked, 'fromMs' | 'toMs'>,
  days: readonly { day: number; rows: number }[],
  partRows: number,
): number[] {
  const total = days.reduce((sum, { rows }) => sum + rows, 0);
  const target = Math.max(partRows, Math.ceil(total / (usualParts / 2)));
  const cuts = [fromMs];
  let held = 0;
  for (const { day, rows } of days) {
    if (held > 0 && held + rows > target) {
      cuts.push(day * dayMs);
      held = 0;
    }
    const slices = Math.ceil(rows / target);
    for (let slice = 1; slice < slices; slice++) {
      cuts.push(day * dayMs + Math.floor((dayMs / slices) * slice));
    }
    held = slices > 1 ? target : held + rows;
  }
  const inside = cuts.filter((cut, index) => index === 0 || (cut > fromMs && cut < toMs));
  return [...inside, toMs];
}

/** What the file of that place, from 0, has. */
export function askedOfPart(asked: ExportAsked, plan: PartPlan, place: number): ExportAsked {
  if (asked.what !== 'events') return { ...asked, share: { place, of: plan.partCount } };
  const { fromMs, toMs } = asked;
  return {
    ...asked,
    whole: { fromMs, toMs },
    fromMs: plan.cuts[place] ?? asked.toMs,
    toMs: plan.cuts[place + 1] ?? asked.toMs,
  };
}

/** Undefined where it is no plan of ours. */
export function readPlan(text: string): PartPlan | undefined {
  const value: unknown = JSON.parse(text);
  const partCount = fieldOf(value, 'partCount');
  const cuts = listOf(fieldOf(value, 'cuts'), (cut) => (typeof cut === 'number' ? cut : undefined));
  const schema = listOf(fieldOf(value, 'schema'), (column) => {
    const [name, type] = [fieldOf(column, 'name'), fieldOf(column, 'type')];
    return typeof name === 'string' && typeof type === 'string' ? { name, type } : undefined;
  });
  const flatNames = fieldOf(value, 'flat');
  const flat = listOf(flatNames, (one) => {
    const [name, types] = [fieldOf(one, 'name'), fieldOf(one, 'types')];
    return typeof name === 'string' && Array.isArray(types)
      ? { name, types: types.map(String) }
      : undefined;
  });
  const segments = fieldOf(value, 'listed');
  const listed = segments === undefined ? undefined : readPlannedSegments(segments);
  if (segments !== undefined && listed === undefined) return undefined;
  if (typeof partCount !== 'number' || cuts === undefined || schema === undefined) return undefined;
  if (flatNames !== undefined && flat === undefined) return undefined;
  return { partCount, cuts, schema, ...(flat && { flat }), ...(listed && { listed }) };
}

/** Undefined where it is no list, or has an item that `read` does not know. */
function listOf<T>(value: unknown, read: (item: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.map(read).filter((item) => item !== undefined);
  return items.length === value.length ? items : undefined;
}
