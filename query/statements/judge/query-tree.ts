// Reads the engine's EXPLAIN QUERY TREE with run_passes = 0: what its parser has understood, before a name is looked up
// or anything is run. Every line must have a form that is known here; else the statement cannot be judged.

import { notAllowed } from '../refusal.ts';

/** A node, or a section of one, which has no id. */
export interface TreeNode {
  kind: string;
  /** Of a node, such as `function_name`. */
  attributes: ReadonlyMap<string, string>;
  children: TreeNode[];
}

/** Puts EXPLAIN before a SELECT. */
export function explainSql(select: string): string {
  return `EXPLAIN QUERY TREE run_passes = 0\n${select}`;
}

const nodeKinds = new Set([
  ...['QUERY', 'UNION', 'LIST', 'IDENTIFIER', 'MATCHER', 'FUNCTION', 'LAMBDA', 'CONSTANT', 'SORT'],
  ...['INTERPOLATE', 'WINDOW', 'JOIN', 'CROSS JOIN', 'ARRAY_JOIN', 'TABLE_FUNCTION'],
  ...['EXCEPT COLUMN TRANSFORMER', 'APPLY COLUMN TRANSFORMER', 'REPLACE COLUMN TRANSFORMER'],
]);
const sections = new Set([
  ...['WITH', 'PROJECTION', 'JOIN TREE', 'PREWHERE', 'WHERE', 'GROUP BY', 'HAVING', 'WINDOW'],
  ...['QUALIFY', 'ORDER BY', 'INTERPOLATE', 'LIMIT BY LIMIT', 'LIMIT BY OFFSET', 'LIMIT BY'],
  ...['LIMIT', 'OFFSET', 'QUERIES', 'ARGUMENTS', 'PARAMETERS', 'EXPRESSION', 'TABLE EXPRESSION'],
  ...['LEFT TABLE EXPRESSION', 'RIGHT TABLE EXPRESSION', 'JOIN EXPRESSION', 'JOIN EXPRESSIONS'],
  ...['FILL FROM', 'FILL TO', 'FILL STEP', 'FILL STALENESS', 'PARTITION BY'],
  ...['FRAME BEGIN OFFSET', 'FRAME END OFFSET', 'INTERPOLATE_EXPRESSION'],
]);
/** Sections that name a column besides. */
const namingSections = /^(EXPRESSION|REPLACEMENTS|REPLACEMENT NAME) [^\n]+$/;
const node = /^([A-Z][A-Z_ ]*[A-Z]) id: (\d+)(?:, ([^\n]*))?$/;
const maxNodes = 20_000;

/** Throws StatementRefusal. */
export function readQueryTree(lines: readonly string[]): TreeNode {
  const path: TreeNode[] = [];
  let root: TreeNode | undefined;
  let ids = 0;
  if (lines.length > maxNodes) throw notAllowed('the statement is too long to be judged');
  for (const line of lines) {
    const text = line.trimStart();
    const indent = line.length - text.length;
    const level = indent / 2;
    const parsed = readLine(text.trimEnd());
    if (parsed === undefined || !Number.isInteger(level) || level > path.length) throw unread();
    if (parsed.id !== undefined && parsed.id !== ids++) throw unread();
    const parent = level === 0 ? undefined : path[level - 1];
    if ((parent === undefined) !== (root === undefined)) throw unread();
    root ??= parsed.node;
    parent?.children.push(parsed.node);
    path.splice(level, path.length, parsed.node);
  }
  if (root?.kind !== 'QUERY' && root?.kind !== 'UNION') throw unread();
  return root;
}

function unread(): Error {
  return notAllowed('this statement cannot be judged: write it in another way');
}

function readLine(text: string): { node: TreeNode; id: number | undefined } | undefined {
  const [, kind = '', id, rest = ''] = node.exec(text) ?? [];
  if (nodeKinds.has(kind) && id !== undefined) {
    // A constant's value may look like anything, and is not taken apart.
    const attributes = kind === 'CONSTANT' ? countOf(rest) : attributesOf(rest);
    return { node: { kind, attributes, children: [] }, id: Number(id) };
  }
  const isSection = sections.has(text);
  const naming = namingSections.exec(text)?.[1];
  if (!isSection && naming === undefined) return undefined;
  return {
    node: { kind: naming ?? text, attributes: new Map(), children: [] },
    id: undefined,
  };
}

const wholeNumber = /^(?:alias: [^:]*, )?constant_value: UInt64_(\d+), constant_value_type: \w+$/;

/** The attribute `count` of a whole number; no other value of a constant is looked at. */
function countOf(rest: string): ReadonlyMap<string, string> {
  const [, digits] = wholeNumber.exec(rest) ?? [];
  return digits === undefined ? new Map() : new Map([['count', digits]]);
}

/** No name in a statement has a colon (statement-text.ts), so that each attribute begins where it seems to. */
function attributesOf(rest: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', value = ''] of rest.matchAll(/(?:^|, )(\w+): (.*?)(?=, \w+: |$)/g)) {
    if (attributes.has(name)) throw unread();
    attributes.set(name, value);
  }
  return attributes;
}
