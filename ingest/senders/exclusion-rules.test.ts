import { expect, it } from 'vitest';
import { ExclusionRules } from './exclusion-rules.ts';

const nothing = { networks: [], paths: [], countries: [], userAgents: [] };

it.each([
  ['/a/*/b/*', ['/a/x/b/', '/a//b/c/d', '/a/b/b/'], ['/a/b/', '/a/x/b', '/x/a/x/b/']],
  ['*admin*', ['/admin', '/x/admin/y', 'admin'], ['/adm/in', '']],
  ['/ab*ba', ['/abba', '/ab--ba'], ['/aba', '/abbab']],
  ['/exact', ['/exact'], ['/exact/', '/Exact']],
  ['*', ['/', ''], []],
])('the path %s names whole paths', (pattern, named, others) => {
  const rules = new ExclusionRules({ ...nothing, paths: [pattern] });
  expect(named.filter((path) => !rules.isPathExcluded(path))).toEqual([]);
  expect(others.filter((path) => rules.isPathExcluded(path))).toEqual([]);
});

it('looks at no address where no network is excluded', () => {
  const rules = new ExclusionRules({ ...nothing, countries: ['DE'] });
  const never = (): never => {
    throw new Error('the address was asked for');
  };
  expect(rules.ofRequest({ location: { country: 'DE' } }, never)).toBe('excluded_country');
  expect(rules.ofRequest({ location: {} }, never)).toBeUndefined();
});
