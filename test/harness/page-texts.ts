// The texts of a page's source that a reader may see: those between tags, in attributes, counted nouns, and strings
// that begin as a sentence does. Classes, addresses and SQL are none.

import { parseAst } from 'rolldown/parseAst';
import type { SourceFile } from './source-tree.ts';

type Node = Readonly<Record<string, unknown>>;

const unseenAttributes: ReadonlySet<unknown> = new Set(['class', 'key', 'query', 'href', 'type']);

export function textsOf({ path, text }: SourceFile): string[] {
  return within(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }), false)
    .map((one) => one.trim().replaceAll(/\s+/g, ' '))
    .filter((one) => one !== '' && !one.startsWith('SELECT '));
}

/** `isSeen`: a string here is text whatever it begins with. */
function within(node: unknown, isSeen: boolean): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => within(one, isSeen));
  if (!isNode(node)) return [];
  switch (node['type']) {
    case 'ImportDeclaration':
    case 'TSLiteralType':
      return [];
    case 'JSXText':
      return [String(node['value'])];
    case 'Literal':
      return textIn(String(node['value']), isSeen);
    case 'TemplateLiteral':
      return [...textIn(quasisOf(node['quasis']), isSeen), ...within(node['expressions'], isSeen)];
    case 'JSXAttribute':
      return unseenAttributes.has(nameOf(node['name'])) ? [] : within(node['value'], true);
    case 'JSXExpressionContainer':
      return within(node['expression'], isSeen);
    case 'CallExpression':
      return within(node['arguments'], nameOf(node['callee']) === 'plural');
    default:
      return within(Object.values(node), false);
  }
}

function textIn(text: string, isSeen: boolean): string[] {
  return isSeen || /^[A-Z].*[a-z]/s.test(text) ? [text] : [];
}

function quasisOf(quasis: unknown): string {
  return Array.isArray(quasis)
    ? quasis.map(({ value }: { value: { cooked: string } }) => value.cooked).join('…')
    : '';
}

function nameOf(node: unknown): unknown {
  return isNode(node) ? node['name'] : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}
