// The structure of the source tree, as far as a machine can check it: the direction of imports, the size of folders and
// tests, and that nothing depends on the machine it was written on.

import { describe, expect, it } from 'vitest';
import {
  crowdedFolders,
  importCircles,
  longTests,
  maxSourcesInFolder,
  maxTestLines,
  missingNames,
  pathsOutside,
  unusedFiles,
  wrongImports,
} from './harness/source-rules.ts';
import { projectFiles, type SourceFile, sourceFiles, textFiles } from './harness/source-tree.ts';

const files = sourceFiles();

const entries = new Set([
  ...[
    'main.ts',
    'door.ts',
    'vitest.config.mjs',
    'setup/run.mjs',
    'setup/start.mjs',
    'setup/test.mjs',
    'setup/check.mjs',
  ],
  ...['setup/other-node.mjs', 'setup/browser-script.mjs', 'sdk/browser/snippet.ts'],
  ...['setup/web-pages.mjs', 'setup/temporary-files.mjs', 'web/begin.ts', 'web/vite.config.ts'],
  // Declarations, which the compiler finds by itself.
  ...['web/build/geo.d.ts', 'web/build/virtual-icons.d.ts', 'web/build/virtual-world.d.ts'],
  ...[
    'demo/play.ts',
    'history/import.ts',
    'history/uploaded.ts',
    'demo/webhook-listen.ts',
    'load/run.ts',
  ],
  ...[
    'bench/run.ts',
    'bench/shots.ts',
    'bench/harness/pages/first-figure.ts',
    'bench/harness/processes/child.ts',
  ],
  'bench/size/print-size.ts',
  ...['sql/engine/main.ts', 'admin.ts', 'pipeline/build/worker.ts'],
  'control/operator/restart.ts',
  'control/auth/password-thread.mjs',
  ...['proto/wire/scanner/assembly/column-mode.ts', 'proto/wire/lz4/assembly/block.ts'],
  'proto/wire/city-hash/assembly/hash.ts',
  'proto/wire/scanner/generate-rule-codes.ts',
  // Copied to where the packages are installed, and run there.
  ...[
    'test/harness/sdks/node-plays.mjs',
    'test/harness/sdks/storage-server.mjs',
    'test/harness/sdks/browser-plays.mjs',
    'test/harness/sdks/agent-plays.mjs',
  ],
]);

const namesOutside = new Set([
  // Looks for test data beside the checkout, and goes without where there is none.
  '.ci/run',
  // Its examples.
  'test/tidy-structure.test.ts',
]);

function fileOf(path: string, ...lines: string[]): SourceFile {
  return { path, lines: [...lines, ''], text: lines.join('\n') };
}

describe('imports', () => {
  it('point one way: proto, platform, services, main; then harness, tests and benches', () => {
    expect(wrongImports(files)).toEqual([]);
  });

  it.each([
    ['query/x.ts', '../ingest/y.ts'],
    ['platform/a/x.ts', '../../query/y.ts'],
    ['main.ts', './bench/y.ts'],
    ['demo/x.ts', '../test/harness/y.ts'],
    ['query/x.test.ts', '../bench/y.ts'],
    ['test/x.test.ts', '../bench/y.ts'],
    ['test/harness/x.ts', '../../bench/y.ts'],
    ['test/harness/x.ts', '../y.test.ts'],
    ['bench/x.test.ts', './y.test.ts'],
    ['web/x.tsx', '../platform/y.ts'],
    ['web/x.tsx', '../proto/wire/y.ts'],
    ['sdk/browser/x.ts', '../../proto/wire/frame.ts'],
    ['sdk/node/x.ts', '../../proto/wire/click-ids.ts'],
    ['query/x.ts', '../web/y.tsx'],
    ['newcomer/x.ts', './y.ts'],
    ['newcomer/x.test.ts', './y.ts'],
  ])('of %s: %s is seen', (path, specifier) => {
    expect(wrongImports([fileOf(path, `import { y } from '${specifier}';`)])).toHaveLength(1);
  });

  it.each([
    ['query/x.ts', '../platform/y.ts'],
    ['query/x.test.ts', '../pipeline/y.ts'],
    ['query/x.test.ts', '../test/harness/y.ts'],
    ['bench/x.ts', '../test/harness/y.ts'],
    ['bench/x.test.ts', './y.ts'],
    ['test/harness/x.ts', '../../sql/y.ts'],
    ['sdk/browser/x.ts', '../../proto/wire/click-ids.ts'],
    ['web/ui/x.tsx', '../../proto/gen/y_pb.js'],
    ['web/ui/x.tsx', '../../platform/words/y.ts'],
  ])('of %s: %s is allowed', (path, specifier) => {
    expect(wrongImports([fileOf(path, `import { y } from '${specifier}';`)])).toEqual([]);
  });
});

describe('circles of imports', () => {
  it('there are none, within a folder neither', () => {
    expect(importCircles(files)).toEqual([]);
  });

  it('of any length are seen, types too, and whoever leads to one or from one is not', () => {
    const at = (specifier: string) => `from '${specifier}';`;
    const circle = [
      fileOf('a/1.ts', `import { two } ${at('./2.ts')}`),
      fileOf('a/2.ts', `import type { Three } ${at('../b/3.ts')}`),
      fileOf('b/3.ts', `export { one } ${at('../a/1.ts')}`, `import { e } ${at('./end.ts')}`),
    ];
    const others = [fileOf('b/end.ts'), fileOf('main.ts', `import { two } ${at('./a/2.ts')}`)];
    const found = importCircles([...circle, ...others]);
    expect(found.map((sentence) => sentence.split(' in ')[0])).toEqual([
      'a/1.ts imports a/2.ts',
      'a/2.ts imports b/3.ts',
      'b/3.ts imports a/1.ts',
    ]);
    expect(importCircles([...circle.slice(1), ...others])).toEqual([]);
  });
});

describe('folders', () => {
  it('hold a dozen sources at most', () => {
    expect(crowdedFolders(files)).toEqual([]);
  });

  it('with one more are seen; tests and folders below do not count', () => {
    const sources = Array.from({ length: maxSourcesInFolder }, (_, n) => fileOf(`a/b/${n}.ts`));
    const others = [fileOf('a/b/0.test.ts'), fileOf('a/b/c/0.ts'), fileOf('a/0.ts')];
    expect(crowdedFolders([...sources, ...others])).toEqual([]);
    const [seen] = crowdedFolders([...sources, fileOf('a/b/more.mjs')]);
    expect(seen).toMatch(/^a\/b\/ has 13 sources/);
  });
});

describe('files', () => {
  it('are imported by what ships, or are entries', () => {
    expect(unusedFiles(files, entries)).toEqual([]);
  });

  it('that only tests, the harness or benches import are seen', () => {
    const importing = (path: string, specifier: string): SourceFile =>
      fileOf(path, `import '${specifier}';`);
    const used = fileOf('query/used.ts');
    const entry = importing('main.ts', './query/used.ts');
    const shipped = [used, entry];
    expect(unusedFiles(shipped, new Set(['main.ts']))).toEqual([]);
    const dead = [
      fileOf('query/dead.ts'),
      importing('query/dead.test.ts', './dead.ts'),
      importing('test/harness/user.ts', '../../query/dead.ts'),
      importing('bench/user.ts', '../query/dead.ts'),
    ];
    expect(
      unusedFiles([...shipped, ...dead], new Set(['main.ts', 'bench/user.ts'])).map(
        (sentence) => sentence.split(' ')[0],
      ),
    ).toEqual(['query/dead.ts', 'test/harness/user.ts']);
  });

  it('of the harness are used where a test imports them', () => {
    const test = fileOf('query/x.test.ts', "import '../test/harness/x.ts';");
    expect(unusedFiles([fileOf('test/harness/x.ts'), test], new Set())).toEqual([]);
  });

  it('are named rightly by documents and comments', () => {
    const paths = projectFiles();
    const named = textFiles().filter(({ path }) => /\.(md|tsx?|mjs)$/.test(path));
    expect(named.flatMap((file) => missingNames(file, paths))).toEqual([]);
  });

  it.each([
    ['a.md', 'see `query/gone.ts`'],
    ['a.ts', '// The rest is gone.ts.'],
    ['query/a.ts', ' * as in ./filters/gone.ts, or query/gone.ts'],
  ])('that do not exist: %s with %s is seen', (path, line) => {
    expect(missingNames(fileOf(path, line), ['query/here.ts'])).toHaveLength(1);
  });

  it.each([
    ['a.md', 'see `query/here.ts`, or here.ts'],
    ['a.ts', "import './gone.ts';"],
    ['a.md', '`migrations/NNNN_name.sql`'],
  ])('%s with %s is not', (path, line) => {
    expect(missingNames(fileOf(path, line), ['query/here.ts'])).toEqual([]);
  });

  it('name no path outside the checkout', () => {
    const inside = textFiles().filter(({ path }) => !namesOutside.has(path));
    expect(inside.flatMap(pathsOutside)).toEqual([]);
  });

  it.each([
    ['a.ts', "const path = '/tmp/x';"],
    ['a.md', 'see /home/me/notes.md'],
    ['a.ts', "mkdtempSync('/tmp')"],
    ['query/a.ts', "join(root, '../../data')"],
    ['query/a.ts', "join(import.meta.dirname, '..', '..')"],
    ['query/a.ts', "join(root, '..', 'data')"],
    ['a.sh', 'cd ../shared'],
  ])('%s with %s is seen', (path, line) => {
    expect(pathsOutside(fileOf(path, line))).toHaveLength(1);
  });

  it.each([
    ['a.ts', "fetch('https://example.com/home/page')"],
    ['a.ts', "mkdtempSync(join(tmpdir(), 'millrace-'))"],
    ['a.ts', "expect(page).toBe('/home')"],
    ['query/a/b.ts', "join(import.meta.dirname, '../..', 'platform')"],
  ])('%s with %s is not', (path, line) => {
    expect(pathsOutside(fileOf(path, line))).toEqual([]);
  });
});

describe('tests', () => {
  it('have 500 lines at most', () => {
    expect(longTests(files)).toEqual([]);
  });

  it('with one more are seen', () => {
    const lines = Array<string>(maxTestLines).fill('x');
    expect(longTests([fileOf('a.test.ts', ...lines), fileOf('a.ts', ...lines, 'x')])).toEqual([]);
    expect(longTests([fileOf('a.test.ts', ...lines, 'x')])).toHaveLength(1);
  });
});
