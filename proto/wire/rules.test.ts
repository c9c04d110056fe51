import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { noMemoryCode, noRuleCode, rules, rulesByCode, rulesOf } from './rules.ts';
import { ruleCodesPath, ruleCodesText } from './scanner/rule-codes-text.ts';

it('no two rules of the scanner share a code', () => {
  const codes = rulesOf('both').map((rule) => rules[rule].code);
  expect(new Set([noRuleCode, noMemoryCode, ...codes]).size).toBe(codes.length + 2);
  expect(rulesByCode.size).toBe(codes.length);
});

it('the constants of the scanner’s module are those of the table: npm run generate:rules', () => {
  expect(readFileSync(ruleCodesPath, 'utf8')).toBe(ruleCodesText());
});
