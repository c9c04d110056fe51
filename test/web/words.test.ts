// The words of the pages: texts that web/README.md has replaced are in no source of them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root, sourceFiles } from '../harness/source-tree.ts';

/** Of the last column of the table: each text in backticks. */
const replaced = readFileSync(join(root, 'web', 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .flatMap(
    (line) =>
      line
        .split('|')
        .at(-2)
        ?.match(/`[^`]+`/g) ?? [],
  )
  .map((text) => text.slice(1, -1));

const isComment = /^\s*(?:\/\/|\/?\*)/;

it('the table names what was replaced', () => {
  expect(replaced.length).toBeGreaterThan(10);
  expect(replaced).toContain('Ask further');
});

it('no page says what was replaced', () => {
  const found = sourceFiles()
    .filter(({ path }) => path.startsWith('web/'))
    .filter(({ path }) => !/\.test\.tsx?$/.test(path))
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, index) =>
        isComment.test(line)
          ? []
          : replaced
              .filter((text) => line.includes(text))
              .map((text) => `${path}:${index + 1}: ${text}`),
      ),
    );
  expect(found).toEqual([]);
});
