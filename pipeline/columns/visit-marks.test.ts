// The marks beside what sorting tells of the same rows: of each visit the first row and the last view must be left
// without one.

import { TimestampMillisecond } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { createDraw } from '../../test/harness/insights/random.ts';
import { DictionaryColumn } from './dictionary-column.ts';
import { VisitMarks } from './visit-marks.ts';
import { Int64Column, UuidColumn } from './word-columns.ts';

interface Row {
  project: string;
  kind: string;
  session: readonly [number, number, number, number];
  timeMs: number;
}

const notFirst = 1;
const notLastView = 4;

function marksOf(rows: readonly Row[]): number[] {
  const projectId = new DictionaryColumn(0);
  const kinds = new DictionaryColumn(1);
  const sessionId = new UuidColumn();
  const occurTime = new Int64Column(new TimestampMillisecond('UTC'));
  for (const { project, kind, session, timeMs } of rows) {
    projectId.push(project);
    kinds.push(kind);
    sessionId.push(Uint32Array.from(session));
    occurTime.push(timeMs);
  }
  return [...new VisitMarks(projectId, kinds, sessionId, occurTime).data().values];
}

interface Marked extends Pick<Row, 'kind' | 'timeMs'> {
  mark: number;
}

/** Each row with its mark, by project, session and UTC day. */
function visitsOf(rows: readonly Row[]): Marked[][] {
  const marks = marksOf(rows);
  const visits = new Map<string, Marked[]>();
  for (const [index, { project, kind, session, timeMs }] of rows.entries()) {
    const key = JSON.stringify([project, session, Math.floor(timeMs / dayMs)]);
    const visit = visits.get(key) ?? [];
    visit.push({ kind, timeMs, mark: marks[index] ?? 0 });
    visits.set(key, visit);
  }
  return [...visits.values()];
}

function expectEdgesLeft(rows: readonly Row[]): void {
  for (const visit of visitsOf(rows)) {
    const firstMs = Math.min(...visit.map(({ timeMs }) => timeMs));
    const views = visit.filter(({ kind }) => kind === 'page_view');
    const lastMs = Math.max(...views.map(({ timeMs }) => timeMs));
    for (const { timeMs, mark } of visit) if (timeMs === firstMs) expect(mark & notFirst).toBe(0);
    for (const { timeMs, mark } of views) if (timeMs === lastMs) expect(mark & notLastView).toBe(0);
  }
}

describe('marks of visits', () => {
  it('leave the first row and the last view of each visit, whatever comes between', () => {
    const draw = createDraw(7);
    for (let round = 0; round < 300; round++) {
      // From one visit of many rows to many of one; ids that differ in a single word, times on both sides of 1970 and
      // of midnights, many of them equal.
      const ids = 1 + draw.below(40);
      const span = 10 ** draw.below(10);
      const rows = Array.from({ length: draw.below(200) }, (): Row => {
        const session: [number, number, number, number] = [1, 2, 3, 4];
        session[draw.below(4)] = draw.below(ids);
        return {
          project: `p${draw.below(3)}`,
          kind: ['click', 'page_view', 'scroll'][draw.below(3)] ?? '',
          session,
          timeMs: draw.below(span) - Math.floor(span / 2),
        };
      });
      expectEdgesLeft(rows);
    }
  });

  it('leave one row and one view of a visit, where no two are of one moment', () => {
    const draw = createDraw(8);
    const rows = Array.from({ length: 5_000 }, (_, index): Row => {
      const visit = draw.below(300);
      const timeMs = Date.UTC(2026, 10, 20, 12) + ((index * 7) % 5_000);
      const kind = index % 3 === 0 ? 'click' : 'page_view';
      return { project: 'p', kind, session: [visit, 2, 3, 4], timeMs };
    });
    const visits = visitsOf(rows);
    expect(visits.length).toBe(300);
    const all = visits.flat();
    const views = all.filter(({ kind }) => kind === 'page_view');
    expect(all.filter(({ mark }) => (mark & notFirst) === 0)).toHaveLength(300);
    expect(views.filter(({ mark }) => (mark & notLastView) === 0)).toHaveLength(300);
  });

  it('leave all rows where visits of one slot take turns', () => {
    // Their words have the same exclusive or.
    const rows = Array.from({ length: 1_000 }, (_, index): Row => {
      const visit = index % 2;
      return { project: 'p', kind: 'page_view', session: [visit, visit, 5, 6], timeMs: index };
    });
    expect(new Set(marksOf(rows))).toEqual(new Set([0]));
  });
});
