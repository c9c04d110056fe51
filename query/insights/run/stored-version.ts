// What a question's answer depends on besides the question: a text that is another one once an event was stored in the
// question's range, or a profile, trait, merge or deletion of the project. Reading it costs one small statement, which
// also tells whether the project has ever deleted anybody: most have not, and their statements need not look.

import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { InsightType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../../deadline.ts';
import { readRows } from '../../read-rows.ts';
import { visitWindow } from '../forms/visits/visit.ts';
import type { Question } from '../read/question.ts';

/** In milliseconds since the epoch, half-open. */
export interface StoredRange {
  fromMs: number;
  toMs: number;
}

const quarterSeconds = 900;
/** The last second of a DateTime. */
const maxSeconds = 2 ** 32 - 1;

/** The events that may change the answer, by the time when they occurred. */
export function rangeOf(question: Question): StoredRange {
  const { spec, fromMs, toMs } = question;
  switch (spec.insightType) {
    case InsightType.LIFECYCLE:
      // A user's first event ever may lie before every range.
      return { fromMs: 0, toMs };
    case InsightType.TRENDS:
    case InsightType.SEGMENTATION:
      return spec.session === undefined ? { fromMs, toMs } : visitWindow(question);
    case InsightType.FUNNEL:
    case InsightType.RETENTION:
    case InsightType.STICKINESS:
    case InsightType.USER_FLOW:
    case InsightType.TOP_K:
    case InsightType.UNSPECIFIED:
      return { fromMs, toMs };
    default:
      // A number that is no type was refused before.
      return spec.insightType satisfies never;
  }
}

/** The events that may change any of these answers: one look tells for all that is asked together. */
export function rangeOfAll(questions: readonly Question[]): StoredRange {
  const ranges = questions.map(rangeOf);
  return {
    fromMs: Math.min(...ranges.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...ranges.map(({ toMs }) => toMs)),
  };
}

export interface StoredVersion {
  version: string;
  /** A profile of the project was deleted, now or at any time before. */
  hasDeletions: boolean;
  /** Of the range, in whole quarters of an hour. */
  events: number;
}

// A later change adds an event or a change, so both sums only grow.
const sql = `SELECT 'events' AS part, sum(events) AS count, toUInt64(0) AS newest, toUInt64(0) AS deleted FROM event_counts
  WHERE project_id = {project:String} AND quarter >= toDateTime({from:UInt32}, 'UTC') AND quarter < toDateTime({to:UInt32}, 'UTC')
  UNION ALL SELECT 'changes', sum(changes), max(newest_version), sum(deletions) FROM project_changes WHERE project_id = {project:String}`;

/** The nearest second that a DateTime can be, since the epoch. */
export function dateTimeSeconds(seconds: number): number {
  return Math.min(Math.max(0, seconds), maxSeconds);
}

/** Throws as readRows does. */
export async function readStoredVersion(
  clickhouse: RowReader,
  projectId: string,
  { fromMs, toMs }: StoredRange,
  deadline: Pick<Deadline, 'signal'>,
): Promise<StoredVersion> {
  const fromQuarter = Math.floor(fromMs / 1_000 / quarterSeconds) * quarterSeconds;
  const params = {
    project: projectId,
    from: dateTimeSeconds(fromQuarter),
    to: dateTimeSeconds(Math.ceil(toMs / 1_000)),
  };
  const bounds = { deadline, maxRows: 2, maxCharacters: 1_000 };
  const read = await readRows(clickhouse, { sql, params }, bounds);
  if (read.kind !== 'rows') throw new Error('the engine has no memory for a sum');
  return {
    // A statement may be asked with other ranges: boards look at what all of their questions read.
    version: JSON.stringify([
      params.from,
      params.to,
      ...read.rows.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    ]),
    events: read.rows.reduce((sum, [part, n]) => (part === 'events' ? sum + Number(n) : sum), 0),
    hasDeletions: read.rows.some(([, , , deleted]) => Number(deleted) > 0),
  };
}
