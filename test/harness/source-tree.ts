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
  return namedBy(file, /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
}

/** Those that are loaded with it, types included: not what it imports only when it needs it. */
export function loadedWith(file: SourceFile): string[] {
  return namedBy(file, /(?:from|import)\s*'(\.{1,2}\/[^']+)'/g);
}

function namedBy(file: SourceFile, specifier: RegExp): string[] {
  const named = [...file.text.matchAll(specifier)];
  return named.map((match) => normalize(join(dirname(file.path), match[1] ?? '')));
}
