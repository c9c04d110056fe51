// Formulas: what they are worth, and what is said of those that cannot be read.

import { create } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { InsightQuerySpecSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { readFormulas } from './formula.ts';

function read(expression: string, displayName = '') {
  const [formula = expect.fail('no formula')] = readFormulas(
    create(InsightQuerySpecSchema, { events: [{}, {}], formulas: [{ expression, displayName }] }),
  );
  return formula;
}

function refusal(expression: string, displayName?: string): string {
  try {
    read(expression, displayName);
    return 'taken';
  } catch (error) {
    return error instanceof ConnectError ? error.rawMessage : String(error);
  }
}

it.each<[string, readonly number[], number | undefined]>([
  ['A / B * 100', [3, 4], 75],
  ['A - B - 1', [9, 3], 5],
  ['A + B * 2', [1, 5], 11],
  ['(A + B) * 2', [1, 5], 12],
  ['-A*-B', [2, 3], 6],
  ['--A', [2, 0], 2],
  ['A/B', [1, 0], undefined],
  ['0/B', [0, 0], undefined],
  // What is divided by zero does not come back as 0.
  ['1/(A/B)', [1, 0], undefined],
  ['A*B', [1e308, 10], undefined],
  ['A - A', [Number.POSITIVE_INFINITY, 0], undefined],
  ['0 * -A', [1, 0], 0],
  ['1.25', [], 1.25],
])('%s of %j is %s', (expression, values, expected) => {
  expect(read(expression)(values)).toBe(expected);
});

const path = 'spec.formulas[0].expression:';
it.each<[string, string]>([
  ['', `${path} at character 1: a series, a number or "(" is expected`],
  ['A +', `${path} at character 4: a series, a number or "(" is expected`],
  ['A + C', `${path} at character 5: there is no series C`],
  ['(A', `${path} at character 3: ")" is missing`],
  ['A)', `${path} at character 2: ")" is not expected`],
  ['A B', `${path} at character 3: "B" is not expected`],
  ['a', `${path} at character 1: a series, a number or "(" is expected`],
  ['1.', `${path} at character 2: "." is not expected`],
  ['A ** B', `${path} at character 4: a series, a number or "(" is expected`],
  [`${'('.repeat(21)}A${')'.repeat(21)}`, `${path} at character 22: goes deeper than 20`],
  [`${'-'.repeat(21)}A`, `${path} at character 22: goes deeper than 20`],
  [`A${' '.repeat(200)}`, `${path} takes at most 200 characters`],
])('%s is refused', (expression, rule) => {
  expect(refusal(expression)).toBe(rule);
});

it('is as deep, as long and as named as the bounds say', () => {
  expect(refusal(`${'('.repeat(20)}A${')'.repeat(20)}`)).toBe('taken');
  expect(refusal(`A${'+A'.repeat(99)}`, '😀'.repeat(150))).toBe('taken');
  expect(refusal('A', '😀'.repeat(151))).toBe(
    'spec.formulas[0].displayName: takes at most 150 code points',
  );
});
