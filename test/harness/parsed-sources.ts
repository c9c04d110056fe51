// The functions of sources as the compiler's parser finds them, for the test that looks at their length: whatever form
// they have, a component and an arrow among them. Nothing is resolved, and no type is looked at.

import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';
import type { SourceFile } from './source-tree.ts';

interface FunctionSpan {
  path: string;
  /** Where it begins, from 1. */
  line: number;
  /** Empty where it has none. */
  name: string;
  lines: number;
}

const functionKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

/** Below it each source has its own path, for the compiler alone. */
const folder = '/sources';
const configuration = `${folder}/tsconfig.json`;
const compilerOptions = {
  ...{ allowJs: true, jsx: 'preserve', target: 'esnext', module: 'nodenext' },
  ...{ noResolve: true, noLib: true, types: [] },
};

/** Throws where the parser does not understand a source. */
export function functionSpans(files: readonly SourceFile[]): FunctionSpan[] {
  const texts = Object.fromEntries(files.map(({ path, text }) => [`${folder}/${path}`, text]));
  const all = { [configuration]: JSON.stringify({ compilerOptions, files: Object.keys(texts) }) };
  const compiler = new API({ fs: createVirtualFileSystem({ ...all, ...texts }) });
  try {
    const snapshot = compiler.updateSnapshot({ openProjects: [configuration] });
    const program = snapshot.getProject(configuration)?.program;
    return files.flatMap(({ path }) => {
      const tree = program?.getSourceFile(`${folder}/${path}`);
      if (tree === undefined) throw new Error(`the compiler has no ${path}`);
      const lineOf = (position: number) => tree.getLineAndCharacterOfPosition(position).line + 1;
      return functionsBelow(tree).map((node) => {
        const line = lineOf(node.getStart(tree));
        return { path, line, name: nameOf(node), lines: lineOf(node.end) - line + 1 };
      });
    });
  } finally {
    compiler.close();
  }
}

function functionsBelow(node: Node): Node[] {
  const found: Node[] = functionKinds.has(node.kind) ? [node] : [];
  node.forEachChild((child) => {
    found.push(...functionsBelow(child));
  });
  return found;
}

/** Its own, or that of what it is assigned to. */
function nameOf(node: Node): string {
  for (const named of [node, node.parent]) {
    const name: unknown = Reflect.get(named, 'name');
    const text: unknown = typeof name === 'object' && name !== null && Reflect.get(name, 'text');
    if (typeof text === 'string') return text;
  }
  return '';
}
