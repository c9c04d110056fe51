import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../../test/harness/source-tree.ts';
import { lists, notShown, openings, openPages, pagesOf } from './shown-pages.ts';

it('are all addresses of the app, but those that need a token', () => {
  const table = readFileSync(join(root, 'web', 'routes.ts'), 'utf8');
  const patterns = [...table.matchAll(/^ {2}(?:open|inside)\(\s*'([^']+)'/gm)].map(
    ([, pattern = '']) => pattern,
  );
  const pages = pagesOf({ projectId: 'p', organizationId: 'o' });
  const paths = [...Object.values(openPages), ...Object.values(pages)].map(
    (path) => path.split('?')[0] ?? '',
  );
  const opened = lists.map((name) => `${pages[name]}/one`);
  const missing = patterns.filter((pattern) => {
    const isOf = new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`);
    return !notShown.includes(pattern) && ![...paths, ...opened].some((path) => isOf.test(path));
  });
  expect(patterns.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
  expect(Object.keys(openings).filter((name) => pages[name] === undefined)).toEqual([]);
});
