// Which events a question's answer depends on. That their storing is noticed is kept-answers.test.ts's.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import {
  Granularity,
  InsightType,
  QueryRequestSchema,
  SessionMetric,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { planOf } from '../forms/forms.ts';
import { noFacts } from '../read/property-types.ts';
import { readQuestion } from '../read/question.ts';
import { rangeOfReads, readStoredVersion } from './stored-version.ts';

const fromMs = Date.UTC(2026, 9, 10);
const toMs = Date.UTC(2026, 9, 12);
const dayMs = 86_400_000;
const session = { metric: SessionMetric.SESSIONS };

it.each([
  ['a trend', { insightType: InsightType.TRENDS, events: [{}] }, fromMs, toMs],
  ['visits', { insightType: InsightType.SEGMENTATION, session }, fromMs - dayMs, toMs + dayMs],
  ['a lifecycle', { insightType: InsightType.LIFECYCLE, events: [{}] }, 0, toMs],
])('%s', (_, spec, wantedFromMs, wantedToMs) => {
  const request = create(QueryRequestSchema, {
    granularity: Granularity.DAY,
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    spec,
  });
  const { notes } = planOf(readQuestion('a project', request)).question;
  expect(rangeOfReads(notes.reads)).toEqual({ fromMs: wantedFromMs, toMs: wantedToMs });
});

it('is nothing where a plan notes no read', () => {
  expect(() => rangeOfReads([])).toThrow('reads nothing');
});

it('is another version for another range, where as much is stored in both', async () => {
  const store: RowReader = {
    select: async (_, onRow) => void onRow('["events","7","0"]'),
  };
  const limit = { signal: new AbortController().signal };
  const versionOf = async (untilMs: number) =>
    (await readStoredVersion(store, 'a project', { fromMs, toMs: untilMs }, limit)).version;
  expect(await versionOf(toMs)).toBe(await versionOf(toMs));
  expect(await versionOf(toMs)).not.toBe(await versionOf(toMs + dayMs));
});

it('is read alone where the types of properties are too much to read', async () => {
  const ofVersion = '["events","7",[]]';
  const names = JSON.stringify(['types', 'x'.repeat(1_048_576), ['int']]);
  const store: RowReader = {
    select: async ({ sql }, onRow) => {
      for (const row of sql.includes('property_keys') ? [names, ofVersion] : [ofVersion]) {
        if (!onRow(row)) return;
      }
    },
  };
  const limit = { signal: new AbortController().signal };
  const range = { fromMs, toMs };
  const alone = await readStoredVersion(store, 'a project', range, limit);
  const beside = await readStoredVersion(store, 'a project', range, limit, ['x']);
  expect(beside).toEqual({ ...alone, events: 7, facts: noFacts });
});
