// Judges a SELECT by its tree, by what is allowed: functions of a list, `numbers` with a bound as the only table
// function, and tables by one name, which the engine looks for in the project's own database alone (views/).

import { notAllowed } from '../refusal.ts';
import type { AllowedFunctions } from './allowed-functions.ts';
import type { TreeNode } from './query-tree.ts';

/** Of `numbers`: it reads nothing, and takes no more time than a statement has. */
const maxNumbers = 10_000_000n;

/** Nodes and sections that a table stands in. */
const tablePlaces = new Set([
  ...['JOIN TREE', 'TABLE EXPRESSION', 'LEFT TABLE EXPRESSION', 'RIGHT TABLE EXPRESSION'],
]);
/** After one of these a name, and a function too, may be a table. */
const inFunction = /^(global)?(not)?(null)?in(ignoreset)?$/;
const listFunctions = new Set(['tuple', 'array', 'cast', '_cast']);
/** The engine's own one-row table, which a SELECT without FROM has. */
const noTable = 'system.one';

/** Throws StatementRefusal that names what is not allowed. */
export function judgeTree(root: TreeNode, functions: AllowedFunctions): void {
  const pending: TreeNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    judgeNode(node, functions);
    pending.push(...node.children);
  }
}

function judgeNode(node: TreeNode, functions: AllowedFunctions): void {
  if (tablePlaces.has(node.kind)) node.children.forEach(judgeTable);
  switch (node.kind) {
    case 'FUNCTION':
      judgeFunction(node, functions);
      return;
    case 'TABLE_FUNCTION':
      judgeTableFunction(node);
      return;
    default:
      return;
  }
}

function judgeTable(node: TreeNode): void {
  if (node.kind !== 'IDENTIFIER') return;
  const name = node.attributes.get('identifier') ?? '';
  if (name === noTable) return;
  if (name === '' || name.includes('.')) {
    throw notAllowed(`there is no table ${name}: there are events, profiles and sessions`);
  }
}

function judgeFunction(node: TreeNode, functions: AllowedFunctions): void {
  const name = (node.attributes.get('function_name') ?? '').toLowerCase();
  if (!functions.has(name)) throw notAllowed(`the function ${name} is not allowed here`);
  if (!inFunction.test(name)) return;
  const list = node.children.find(({ kind }) => kind === 'ARGUMENTS')?.children[0];
  const right = list?.children[1];
  if (right === undefined) return;
  judgeTable(right);
  if (right.kind !== 'FUNCTION') return;
  const called = (right.attributes.get('function_name') ?? '').toLowerCase();
  if (!listFunctions.has(called)) {
    throw notAllowed(`${name} takes a list, a subquery or a name, not the function ${called}`);
  }
}

function judgeTableFunction(node: TreeNode): void {
  const name = (node.attributes.get('table_function_name') ?? '').toLowerCase();
  if (name !== 'numbers') throw notAllowed(`the table function ${name} is not allowed`);
  const counts =
    node.children.find(({ kind }) => kind === 'ARGUMENTS')?.children[0]?.children ?? [];
  const isBounded = counts.every(({ attributes }) => {
    const count = attributes.get('count');
    return count !== undefined && BigInt(count) <= maxNumbers;
  });
  if (!isBounded || counts.length === 0) {
    throw notAllowed(`numbers takes whole numbers up to ${maxNumbers}`);
  }
}
