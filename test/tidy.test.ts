// Style rules that a machine can check. Each failure says what to do instead.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeFlags } from './harness/servers/stack.ts';
import {
  functionSpans,
  importsOf,
  projectFiles,
  root,
  type SourceFile,
  sourceFiles,
} from './harness/source-tree.ts';

const files = sourceFiles();
const isTest = (path: string): boolean => path.endsWith('.test.ts') || path.startsWith('test/');
const product = files.filter((file) => !isTest(file.path) && !file.path.startsWith('bench/'));

/** What each folder may import besides itself. The services meet in a message, a bucket or a table, never in code. */
const mayImport: Record<string, readonly string[]> = {
  proto: [],
  platform: ['proto'],
  ingest: ['proto', 'platform'],
  pipeline: ['proto', 'platform'],
  query: ['proto', 'platform'],
  control: ['proto', 'platform'],
  sql: ['platform'],
  demo: ['proto', 'platform'],
  setup: ['dist'],
};

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

function found(
  candidates: readonly SourceFile[],
  pattern: RegExp,
  except: readonly string[] = [],
): string[] {
  return candidates
    .filter((file) => !except.includes(file.path) && file.path !== 'test/tidy.test.ts')
    .flatMap((file) =>
      file.lines.flatMap((line, index) =>
        pattern.test(line) ? [`${file.path}:${index + 1}: ${line.trim()}`] : [],
      ),
    );
}

it('imports point one way: proto, platform, services, main', () => {
  const wrong: string[] = [];
  for (const file of files.filter(({ path }) => !isTest(path))) {
    const allowed = mayImport[folderOf(file.path)];
    if (allowed === undefined) continue;
    for (const target of importsOf(file)) {
      const folder = folderOf(target);
      if (folder !== folderOf(file.path) && !allowed.includes(folder)) {
        wrong.push(
          `${file.path} imports ${target}: move what both need to platform/, or meet in a message`,
        );
      }
    }
  }
  expect(wrong).toEqual([]);
});

it('only platform/config.ts reads the environment', () => {
  const readers = product.filter((file) => !file.path.startsWith('setup/'));
  expect(
    found(readers, /process\.env/, ['platform/config.ts', 'main.ts', 'control/operator/admin.ts']),
  ).toEqual([]);
});

it('only platform/clock.ts asks what time it is: take a Clock', () => {
  expect(found(product, /\bDate\.now\(|new Date\(\)/, ['platform/clock.ts'])).toEqual([]);
});

it('files have at most 300 lines: split by what they own', () => {
  const long = files.filter((file) => file.lines.length > 301 && !isTest(file.path));
  expect(long.map((file) => `${file.path}: ${file.lines.length - 1}`)).toEqual([]);
});

it('functions have at most 70 lines: name a part of it', () => {
  const long = files
    .filter((file) => !isTest(file.path))
    .flatMap((file) =>
      functionSpans(file)
        .filter((span) => span.lines > 70)
        .map((span) => `${file.path}: ${span.name} has ${span.lines}`),
    );
  expect(long).toEqual([]);
});

it('comments have at most 120 characters a line; the formatter breaks code', () => {
  expect(found(files, /^(?=\s*(\/\/|\/?\*)).{121,}$/)).toEqual([]);
});

it('files are named for what they own: no drawers, no barrels', () => {
  const drawers = /(^|\/)(utils?|helpers?|common|types|misc|shared|index|lib)\.(ts|mjs)$/;
  expect(projectFiles().filter((path) => drawers.test(path))).toEqual([]);
});

it('no marker of unfinished work, no switched-off test, no hidden type decision', () => {
  expect(found(files, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  expect(found(files, /\b(it|test|describe)\.(only|skip)\(/)).toEqual([]);
  expect(
    found(files, /@ts-(ignore|expect-error|nocheck)|\bas any\b|: any\b|\bas unknown as\b/),
  ).toEqual([]);
  expect(found(product, /console\.(log|error|warn)/)).toEqual([]);
});

it('interfaces carry no prefix', () => {
  expect(found(files, /\binterface I[A-Z][a-z]/)).toEqual([]);
});

it('every file is imported or is an entry', () => {
  const entries = new Set([
    'main.ts',
    'vitest.config.ts',
    'sql/engine/main.ts',
    'control/operator/admin.ts',
    'pipeline/build/worker.ts',
    'demo/play.ts',
    'demo/import.ts',
    'bench/run.ts',
    'proto/wire/scanner/assembly/column-mode.ts',
    'proto/wire/scanner/generate-rule-codes.ts',
    'proto/wire/lz4/assembly/block.ts',
  ]);
  const imported = new Set(files.flatMap(importsOf));
  const unused = files
    .map((file) => file.path)
    .filter((path) => !path.endsWith('.test.ts') && !path.startsWith('setup/'))
    .filter((path) => !entries.has(path) && !imported.has(path));
  expect(unused).toEqual([]);
});

it('every source file opens with what it is for', () => {
  const silent = files.filter(
    (file) => !file.path.endsWith('.test.ts') && !/^(#!.*\n)?(\/\/|\/\*\*)/.test(file.text),
  );
  expect(silent.map((file) => file.path).filter((path) => path !== 'vitest.config.ts')).toEqual([]);
});

it('the rules see what they look for', () => {
  const bad = { path: 'query/x.ts', text: "import { y } from '../ingest/y.ts';", lines: [] };
  expect(importsOf(bad)).toEqual(['ingest/y.ts']);
  const lines = [
    'export async function long(a: number): Promise<void> {',
    ...Array(80).fill('  a;'),
    '}',
  ];
  expect(functionSpans({ path: 'a.ts', text: '', lines })).toEqual([{ name: 'long', lines: 82 }]);
  const method = [
    'class A {',
    '  async put(',
    '    a: number,',
    '  ): Promise<void> {',
    '    a;',
    '  }',
    '}',
  ];
  expect(functionSpans({ path: 'a.ts', text: '', lines: method })).toEqual([
    { name: 'put', lines: 5 },
  ]);
});

it('starts node in the image as `npm start` does', () => {
  const image = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const command = /^CMD (.*)$/m.exec(image)?.[1] ?? '[]';
  expect(JSON.parse(command)).toEqual(['node', ...nodeFlags, 'dist/main.js']);
});
