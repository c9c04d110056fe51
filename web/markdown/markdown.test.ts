import { describe, expect, it } from 'vitest';
import { readBlocks, safeHref } from './markdown-text.ts';

it('reads blocks', () => {
  const text = '# Goals #\n\none\ntwo\n- a\n- b\n\n1. c\n> said\n---\n```\n# code\n```\nend';
  expect(readBlocks(text)).toEqual([
    { kind: 'heading', level: 1, text: 'Goals' },
    { kind: 'text', text: 'one\ntwo' },
    { kind: 'list', isOrdered: false, items: ['a', 'b'] },
    { kind: 'list', isOrdered: true, items: ['c'] },
    { kind: 'quote', text: 'said' },
    { kind: 'rule' },
    { kind: 'code', text: '# code' },
    { kind: 'text', text: 'end' },
  ]);
});

it('reads a fence that never ends to the end', () => {
  expect(readBlocks('```\na\nb')).toEqual([{ kind: 'code', text: 'a\nb' }]);
});

describe('a link', () => {
  it.each([
    'https://example.org/a',
    'http://example.org/',
    'mailto:ada@example.org',
    '/p/1',
    '#top',
  ])('may lead to %s', (href) => expect(safeHref(href)).toBe(href));
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://example.org/1',
    '//evil.example',
    '/\\evil.example',
    'nothing',
  ])('does not lead to %s', (href) => expect(safeHref(href)).toBeUndefined());
});
