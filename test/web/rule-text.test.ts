// The page's sentences about refusals, held against the service's table of rules: a page imports no part of the service.

import { expect, it } from 'vitest';
import { rules } from '../../proto/wire/rules.ts';
import { ruleText } from '../../web/event/rule-text.ts';

it.each(Object.keys(rules))('%s has a sentence', (rule) => {
  expect(ruleText(rule, 'kind')).not.toContain('breaks the rule');
});
