// The style of single files, as far as a machine can check it; tidy-structure.test.ts checks the tree. Each test's name
// says what to do instead.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { functionSpans } from './harness/parsed-sources.ts';
import { allocatorSetting, nodeFlags } from './harness/servers/stack.ts';
import { projectFiles, root, type SourceFile, sourceFiles } from './harness/source-tree.ts';

const files = sourceFiles();
const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path) || path.startsWith('test/');
const product = files.filter((file) => !isTest(file.path) && !file.path.startsWith('bench/'));
/** What runs in other people's programs and in browsers has neither the service's clock nor its log. */
const service = product.filter((file) => !/^(?:sdk|web)\//.test(file.path));

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

it('only platform/config.ts reads the environment', () => {
  const readers = product.filter((file) => !file.path.startsWith('setup/'));
  const allowed = ['platform/config.ts', 'main.ts', 'admin.ts', 'control/operator/restart.ts'];
  expect(found(readers, /process\.env/, allowed)).toEqual([]);
});

it('only platform/clock.ts asks what time it is: take a Clock', () => {
  expect(found(service, /\bDate\.now\(|new Date\(\)/, ['platform/clock.ts'])).toEqual([]);
});

it('files have at most 300 lines: split by what they own', () => {
  const long = files.filter((file) => file.lines.length > 301 && !isTest(file.path));
  expect(long.map((file) => `${file.path}: ${file.lines.length - 1}`)).toEqual([]);
});

it('functions have at most 70 lines: name a part of it', () => {
  const long = functionSpans(files.filter((file) => !isTest(file.path)))
    .filter(({ lines }) => lines > 70)
    .map(({ path, line, name, lines }) => `${path}:${line}: ${name} has ${lines}`);
  expect(long).toEqual([]);
});

it('comments have at most 120 characters a line; the formatter breaks code', () => {
  expect(found(files, /^(?=\s*(\/\/|\/?\*)).{121,}$/)).toEqual([]);
});

it('files are named for what they own: no drawers, no barrels', () => {
  const drawers = /(^|\/)(utils?|helpers?|common|types|misc|shared|index|lib)\.(tsx?|mjs)$/;
  expect(projectFiles().filter((path) => drawers.test(path))).toEqual([]);
});

it('no marker of unfinished work, no switched-off test, no hidden type decision', () => {
  expect(found(files, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  expect(found(files, /\b(it|test|describe)\.(only|skip)\(/)).toEqual([]);
  expect(
    found(files, /@ts-(ignore|expect-error|nocheck)|\bas any\b|: any\b|\bas unknown as\b/),
  ).toEqual([]);
  expect(found(service, /console\.(log|error|warn)/)).toEqual([]);
});

it('URLs are parsed, not tried: the fast call of canParse is wrong in Node 20', () => {
  expect(found(service, /URL\.canParse\(/)).toEqual([]);
});

it('tests wait for what is to be, as long as every other one, and press keys where the focus is', () => {
  const tests = files.filter(({ path }) => isTest(path));
  expect(found(tests, /\bwaitForTimeout\(/)).toEqual([]);
  // vitest.config.mjs has the times of all: ten minutes of a test or a hook, two of a poll.
  expect(found(tests, /^\s*\}, [1-5]?\d{1,2}_000\);$/)).toEqual([]);
  expect(
    found(tests, /\b(?:poll|waitUntil|waitFor)\(.*\btimeout: [1-5]?\d?_?\d{1,3}\b(?!_)/),
  ).toEqual([]);
  const apart = tests.filter(({ text }) => /\.focus\(\);\s*await \w+\.keyboard\./.test(text));
  expect(apart.map(({ path }) => `${path}: locator.press does both`)).toEqual([]);
});

it('interfaces carry no prefix', () => {
  expect(found(files, /\binterface I[A-Z][a-z]/)).toEqual([]);
});

it('every source file opens with what it is for', () => {
  const silent = files.filter(
    (file) => !/\.test\.tsx?$/.test(file.path) && !/^(#!.*\n)?(\/\/|\/\*\*)/.test(file.text),
  );
  expect(silent.map((file) => file.path)).toEqual([]);
});

it.each([
  ['function long(a) {', '}', 'long'],
  ['export async function* long<T>(', '): T {}', 'long'],
  ['const long = (a: number): number => {', '};', 'long'],
  ['export const Page = () => (<p>', '</p>);', 'Page'],
  ['class A { async put(', '  ): Promise<void> {} }', 'put'],
  ['class A { constructor() {', '} }', 'A'],
  ['class A { get x() {', 'return 1; } }', 'x'],
  ['const a = { long() {', '} };', 'long'],
  ['run(function () {', '});', ''],
  ['const a = `${list.map((one) => {', 'return one; })}`;', ''],
])('a function that begins with %s is seen', (first, last, name) => {
  const text = ['', first, ...Array<string>(80).fill(''), last].join('\n');
  const spans = functionSpans([{ path: 'web/a.tsx', text, lines: text.split('\n') }]);
  expect(spans).toEqual([{ path: 'web/a.tsx', line: 2, name, lines: 82 }]);
});

it('starts node in the image as `npm start` does', () => {
  const image = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const command = /^CMD (.*)$/m.exec(image)?.[1] ?? '[]';
  expect(JSON.parse(command)).toEqual(['node', ...nodeFlags, 'dist/main.js']);
  expect(image).toContain(`ENV ${allocatorSetting}\n`);
});
