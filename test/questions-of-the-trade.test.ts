// docs/questions.md: each field that it names exists, under the form that it names.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DescMessage } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  AggregationType,
  InsightQuerySpecSchema,
  InsightsService,
  InsightType,
  QueryRequestSchema,
  QueryResponseSchema,
  RevenueMeasure,
  TrendSeriesSchema,
} from '../proto/gen/shared/insights/v1/insights_pb.js';
import { root } from './harness/source-tree.ts';

const page = readFileSync(join(root, 'docs/questions.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
  .slice(2);

/** Whether the names lead from the message to a field, as in `funnel.order`. */
function hasField({ fields }: DescMessage, [name, ...rest]: readonly string[]): boolean {
  const field = fields.find((one) => one.name === name);
  if (field === undefined) return false;
  if (rest.length === 0) return true;
  return field.message !== undefined && hasField(field.message, rest);
}

const ofAnswers: readonly DescMessage[] = [QueryResponseSchema, TrendSeriesSchema];

function exists(name: string): boolean {
  const [first = '', ...rest] = name.split('.');
  if (first === 'InsightsService') {
    return InsightsService.methods.some((method) => method.name === rest[0]);
  }
  if (first === 'QueryRequest') return hasField(QueryRequestSchema, rest);
  return [InsightQuerySpecSchema, ...ofAnswers].some((one) => hasField(one, [first, ...rest]));
}

describe('the table of questions', () => {
  it('has four columns in each row, and every form', () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((cells) => cells.length !== 4)).toEqual([]);
    const forms = rows.map(([, , form = '']) => form).join();
    const named = Object.keys(InsightType).filter((name) => /^[A-Z_]+$/.test(name));
    const lacking = named.filter((name) => name !== 'UNSPECIFIED' && !forms.includes(name));
    expect(lacking).toEqual([]);
  });

  it('names fields that exist', () => {
    const isField = /^[a-z_]+(\.[a-z_0-9]+)*$|^(InsightsService|QueryRequest)\./;
    const named = rows.flatMap(([, , , fields = '']) =>
      [...fields.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) =>
        isField.test(name) ? [name] : [],
      ),
    );
    expect(named.length).toBeGreaterThan(40);
    const others = ['point', 'segment.'];
    expect(named.filter((name) => !others.includes(name) && !exists(name))).toEqual([]);
  });

  it('names aggregations and measures that exist', () => {
    const words = rows.flatMap(([, , , fields = '']) => [
      ...fields.matchAll(/\b[A-Z]{2,}[A-Z_]*\b/g),
    ]);
    const known = new Set([
      ...[AggregationType, RevenueMeasure, InsightType].flatMap((one) => Object.keys(one)),
      ...['CSV', 'SQL', 'USER'],
    ]);
    expect(words.map(([word]) => word).filter((word) => !known.has(word))).toEqual([]);
  });
});
