// The page's sentences about refusals, held against the service's table of rules: no page imports a part of the
// service, and nothing imports a page.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rules } from '../../proto/wire/rules.ts';
import { root } from '../harness/source-tree.ts';

const sentences = readFileSync(join(root, 'web', 'event', 'rule-text.ts'), 'utf8');

it.each(Object.keys(rules))('%s has a sentence', (rule) => {
  expect(sentences).toMatch(new RegExp(`^ {2}${rule}:`, 'm'));
});
