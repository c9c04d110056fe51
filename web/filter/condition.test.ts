// What pages say of a condition.

import { expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import { inWords } from './condition.ts';

it.each([
  ['$country', FilterOperator.EQUALS, ['DE'], 'Country is Germany'],
  ['$country', FilterOperator.IN, ['DE', 'XQ', 'de'], 'Country is one of Germany, XQ, de'],
  ['$country', FilterOperator.CONTAINS, ['DE'], 'Country contains DE'],
  ['plan', FilterOperator.EQUALS, ['DE'], 'plan is DE'],
  ['$url', FilterOperator.EQUALS, ['/a'], 'URL is /a'],
  ['$utmSource', FilterOperator.EQUALS, ['ads'], 'UTM source is ads'],
  ['$pathname', FilterOperator.EQUALS, ['/%C5%8Dkami'], 'Pathname is /ōkami'],
  ['$bot', FilterOperator.NOT_EQUALS, ['true'], 'Bots left out'],
  ['$bot', FilterOperator.EQUALS, ['true'], 'Bot is true'],
])('%s, operator %i, of %j', (property, operator, values, words) => {
  expect(inWords({ property, operator, values, source: PropertySource.AUTO })).toBe(words);
});
