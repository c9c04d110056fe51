// What is changed since the state that all others have, and how far it reaches: each file that imports a changed one,
// at once or over others. Read from git and from the sources; imports no package.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { root } from './files.mjs';

/**
 * Paths that differ from the base, uncommitted and new ones included. The base is where HEAD left the main branch.
 * Undefined where that is not known, as in a clone without history.
 */
export function changedFiles(directory = root) {
  const git = (...words) => linesOf(directory, words);
  const base = ['origin/main', 'main']
    .map((branch) => git('merge-base', 'HEAD', branch))
    .find(Boolean);
  if (base === undefined) return undefined;
  const tracked = git('diff', '--name-only', base[0] ?? 'HEAD');
  const untracked = git('ls-files', '--others', '--exclude-standard');
  return tracked && untracked && [...tracked, ...untracked];
}

/** What git prints; undefined where it fails. */
function linesOf(directory, words) {
  try {
    const text = execFileSync('git', words, {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').filter(Boolean);
  } catch {
    return undefined;
  }
}

/** How many imports lie between each source and the nearest change, 0 for a changed one; others are not in it. */
export function reachOf(changed) {
  const sources = readSources();
  const importers = new Map();
  for (const [path, text] of sources) {
    for (const target of importsOf(path, text)) {
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  const reach = new Map();
  let next = changed.flatMap((path) => (sources.has(path) ? [path] : readersOf(path, sources)));
  for (let distance = 0; next.length > 0; distance++) {
    const reached = next.filter((path) => !reach.has(path));
    for (const path of reached) reach.set(path, distance);
    next = reached.flatMap((path) => importers.get(path) ?? []);
  }
  return reach;
}

/** Path to text. */
function readSources() {
  const paths = linesOf(root, ['ls-files', '-co', '--exclude-standard']) ?? [];
  return new Map(
    paths
      .filter((path) => /\.(tsx?|mjs|js)$/.test(path) && existsSync(join(root, path)))
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
}

function importsOf(path, text) {
  const specifiers = text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return Array.from(specifiers, ([, specifier]) => normalize(join(dirname(path), specifier)));
}

/** Of a file that is no source: the sources that name it or its folder. Nothing that runs reads a document. */
function readersOf(path, sources) {
  if (path.endsWith('.md')) return [];
  const names = [`${basename(path)}'`, `'${basename(dirname(path))}'`];
  return [...sources]
    .filter(([, text]) => names.some((name) => text.includes(name)))
    .map(([source]) => source);
}

/** Files that say how tests run. */
const howTestsRun = /^(\.ci|setup)\/|^(package(-lock)?\.json|vitest\.config\.mjs|tsconfig\.json)$/;

/**
 * Whether the benches may run otherwise than at the base: bench/ or what it imports is changed, or how tests run. True,
 * too, where no base is known, and where nothing differs from it: that run is of what all others have.
 */
export function touchesBenches(changed) {
  if (changed === undefined || changed.length === 0) return true;
  if (changed.some((path) => howTestsRun.test(path))) return true;
  return [...reachOf(changed).keys()].some((path) => path.startsWith('bench/'));
}
