// The words of the pages: texts that web/README.md has replaced are in no source of them, and its words are in no text
// that a reader sees.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { textsOf } from '../harness/page-texts.ts';
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
const isWord = (text: string): boolean => text.startsWith('/') && text.endsWith('/');
const texts = replaced.filter((text) => !isWord(text));
const words = new RegExp(
  `\\b(?:${replaced
    .filter(isWord)
    .map((text) => text.slice(1, -1))
    .join('|')})\\b`,
  'i',
);

const sources = sourceFiles().filter(
  ({ path }) =>
    /^(?:web\/(?!build\/)|platform\/words\/)/.test(path) &&
    !/\.(?:test\.tsx?|mjs|d\.ts)$/.test(path),
);

const isComment = /^\s*(?:\/\/|\/?\*)/;

it('the table names what was replaced', () => {
  expect(texts.length).toBeGreaterThan(10);
  expect(texts).toContain('Ask further');
  expect('Their profiles').toMatch(words);
});

it('no page says what was replaced', () => {
  const found = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      isComment.test(line)
        ? []
        : texts
            .filter((text) => line.includes(text))
            .map((text) => `${path}:${index + 1}: ${text}`),
    ),
  );
  expect(found).toEqual([]);
});

it('no text that a reader sees has a replaced word', () => {
  const seen = sources.flatMap((source) =>
    textsOf(source).map((text) => ({ path: source.path, text })),
  );
  expect(seen.length).toBeGreaterThan(1000);
  const found = seen
    .filter(({ text }) => words.test(text))
    .map(({ path, text }) => `${path}: ${text}`);
  expect(found).toEqual([]);
});
