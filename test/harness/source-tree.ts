// The project's own source files, for the tests that check how they are written.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** The checkout's folder, found from a copy of this file in dist/ too. */
export const root = dirname(findPackageJSON(import.meta.dirname));

function findPackageJSON(directory: string): string {
  const path = join(directory, 'package.json');
  return existsSync(path) ? path : findPackageJSON(dirname(directory));
}

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  path: string;
  text: string;
  lines: string[];
}

/** Every file that git tracks or would track, generated code left out. */
export function projectFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter(
      (path) => path !== '' && !path.startsWith('proto/gen/') && existsSync(join(root, path)),
    );
}

/** TypeScript and the scripts of setup/. */
export function sourceFiles(): SourceFile[] {
  return projectFiles()
    .filter((path) => /\.(?:tsx?|mjs)$/.test(path))
    .map(readSource);
}

/** Every file that is text, documents and configuration included. */
export function textFiles(): SourceFile[] {
  return projectFiles()
    .map(readSource)
    .filter(({ text }) => !text.includes('\0'));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, lines: text.split('\n') };
}

/** The project's own files that a file imports, relative to the root. */
export function importsOf(file: SourceFile): string[] {
  const specifiers = [...file.text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)];
  return specifiers.map((match) => normalize(join(dirname(file.path), match[1] ?? '')));
}

interface FunctionSpan {
  name: string;
  lines: number;
}

/**
 * Functions and methods with the number of lines they span. Relies on the formatter: a body opens with a line that ends
 * in a brace and closes with the first later line that has a brace at the same indentation.
 */
export function functionSpans(file: SourceFile): FunctionSpan[] {
  const header =
    /^\s*(?:(?:export|default|static|private|async) )*(?:function\*? (\w+)|(?:const (\w+) = )|(#?\w+)(?:<.*>)?\()/;
  const spans: FunctionSpan[] = [];
  for (const [opens, line] of file.lines.entries()) {
    if (!/(\)|\)?: .*|=>) \{$/.test(line)) continue;
    const indent = indentOf(line);
    let start = opens;
    if (line.trimStart().startsWith(')')) {
      while (start > 0 && (start === opens || indentOf(file.lines[start] ?? '') > indent)) start--;
    }
    const match = header.exec(file.lines[start] ?? '');
    const name = match?.[1] ?? match?.[2] ?? match?.[3];
    if (name === undefined || controlWords.has(name)) continue;
    const end = file.lines.findIndex(
      (later, index) =>
        index > opens && indentOf(later) === indent && later.trimStart().startsWith('}'),
    );
    if (end >= 0) spans.push({ name, lines: end - start + 1 });
  }
  return spans;
}

const controlWords = new Set(['if', 'for', 'while', 'switch', 'catch', 'describe', 'it']);

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
