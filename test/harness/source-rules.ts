// Rules about the structure of the source tree: each returns one sentence a breach, with the advice what to do instead.
// tidy.test.ts has the rules about single files.

import { importsOf, loadedWith, type SourceFile } from './source-tree.ts';

export const maxSourcesInFolder = 12;
export const maxTestLines = 500;

export const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);

const product = [
  '',
  'proto',
  'platform',
  'ingest',
  'pipeline',
  'query',
  'control',
  'webhooks',
  'alerts',
  'reports',
  'agents',
  'admin',
  'erasure',
  'sql',
  'backup',
  'sdk',
  'demo',
  'history',
];

/** What each area may import besides itself. The services meet in a message, a bucket or a table, never in code. */
const mayImport: Record<string, readonly string[]> = {
  // The files at the root put the service together.
  '': [
    ...['proto', 'platform', 'ingest', 'pipeline', 'query', 'control', 'webhooks', 'alerts'],
    ...['reports', 'agents', 'erasure', 'sql', 'backup', 'admin'],
  ],
  // The commands of admin.ts are a part of the composition.
  admin: ['proto', 'platform', 'control', 'sql', 'backup'],
  proto: [],
  platform: ['proto'],
  ingest: ['proto', 'platform'],
  pipeline: ['proto', 'platform'],
  query: ['proto', 'platform'],
  control: ['proto', 'platform'],
  webhooks: ['proto', 'platform'],
  alerts: ['proto', 'platform'],
  reports: ['proto', 'platform'],
  agents: ['proto', 'platform'],
  erasure: ['proto', 'platform'],
  sql: ['platform'],
  // Copies what the engines hold: it knows their tables, and no service.
  backup: ['platform', 'sql'],
  // The browser's client and node's are for other people's programs: they import nothing. What the browser's bundle
  // takes along is named below.
  sdk: [],
  // The pages know the service by the generated code of its definitions only; mails say the same words.
  web: ['proto/gen', 'platform/words'],
  // The demo describes its visits by the pipeline's own steps.
  demo: ['proto', 'platform', 'sdk', 'pipeline/enrich'],
  // An import maps, checks and describes its events by what live events pass, and is a command as the demo is.
  history: ['proto', 'platform', 'demo', 'pipeline/enrich', 'ingest'],
  // Sends the demo's visits through the demo's client.
  load: ['proto', 'platform', 'demo'],
  setup: ['dist'],
  bench: [...product, 'test/harness'],
  'test/harness': product,
  // A test beside its source is bound by this row too.
  test: [...product, 'test/harness'],
};

/** Texts that the browser's script and the service must read alike. */
const bundled = ['proto/wire/click-ids.ts', 'proto/wire/placeholder-ids.ts'];

/** A top-level folder, or the harness; empty for a file of the root that ships. */
function areaOf(path: string): string {
  if (path === 'vitest.config.mjs') return 'setup';
  if (path.startsWith('test/harness/')) return 'test/harness';
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

export function wrongImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const area = areaOf(file.path);
    const row = mayImport[isTest(file.path) && area !== 'bench' ? 'test' : area];
    if (mayImport[area] === undefined || row === undefined) {
      return [`${area}/ has no row in mayImport: add one that says what it may import`];
    }
    return importsOf(file).flatMap((target) => {
      const other = areaOf(target);
      if (isTest(target)) {
        return [`${file.path} imports the test ${target}: move what both need to test/harness/`];
      }
      if (file.path.startsWith('sdk/browser/') && bundled.includes(target)) return [];
      const isAllowed = row.some((entry) => entry === other || target.startsWith(`${entry}/`));
      if (other === area || isAllowed) return [];
      return [
        `${file.path} imports ${target}: move what both need to platform/, or meet in a message`,
      ];
    });
  });
}

/** Files that import each other in a circle, types included, each with whom of the circle it imports. */
export function importCircles(files: readonly SourceFile[]): string[] {
  const left = new Map(files.map((file) => [file.path, loadedWith(file)]));
  const within = (path: string): string[] =>
    (left.get(path) ?? []).filter((target) => left.has(target));
  // Whoever imports nobody who is left, or is imported by nobody, is in no circle.
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const path of [...left.keys()]) if (within(path).length === 0) left.delete(path);
    const imported = new Set([...left.keys()].flatMap(within));
    for (const path of [...left.keys()]) if (!imported.has(path)) left.delete(path);
  }
  return [...left.keys()].map(
    (path) =>
      `${path} imports ${within(path).join(' and ')} in a circle: give what both need its own file`,
  );
}

export function crowdedFolders(files: readonly SourceFile[]): string[] {
  const counts = new Map<string, number>();
  for (const { path } of files.filter((file) => !isTest(file.path))) {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > maxSourcesInFolder)
    .map(
      ([folder, count]) =>
        `${folder || 'the root'} has ${count} sources, ${maxSourcesInFolder} are allowed: ` +
        'give those that belong together a folder',
    );
}

/**
 * Tests and benches do not count as users of the product: a file that only they import is dead. Everything counts as a
 * user of the harness.
 */
export function unusedFiles(files: readonly SourceFile[], entries: ReadonlySet<string>): string[] {
  const usersOf = (area: string): readonly SourceFile[] => {
    if (area === 'test/harness') return files;
    const isUser = (path: string): boolean =>
      !isTest(path) && (area === 'bench' || (areaOf(path) !== 'bench' && !isHarness(path)));
    return files.filter(({ path }) => isUser(path));
  };
  const importedBy = new Map<string, ReadonlySet<string>>();
  const isImported = (path: string): boolean => {
    const area = areaOf(path);
    const imported = importedBy.get(area) ?? new Set(usersOf(area).flatMap(importsOf));
    importedBy.set(area, imported);
    return imported.has(path);
  };
  return files
    .map((file) => file.path)
    .filter((path) => !isTest(path) && !entries.has(path) && !isImported(path))
    .map(
      (path) => `${path} is imported by no source that ships: delete it, or list it as an entry`,
    );
}

function isHarness(path: string): boolean {
  return areaOf(path) === 'test/harness';
}

const machineFolder = /(?<![\w.})*-])\/(?:work|home|root|tmp|Users)\/|(['"`])\/(?:work|root|tmp)\1/;
/** A path from the checkout's root upwards. */
const aboveRoot = /\broot, '\.\./;
const upwards = /(?:\.\.\/)+|'\.\.'(?:, '\.\.')*/g;

/** Paths of one machine, and relative paths that leave the checkout. */
export function pathsOutside(file: SourceFile): string[] {
  const depth = file.path.split('/').length - 1;
  return file.lines.flatMap((line, index) => {
    const place = `${file.path}:${index + 1}`;
    const climbs = [...line.matchAll(upwards)].map(([chain]) => chain.split('..').length - 1);
    return [
      ...(machineFolder.test(line)
        ? [`${place} names a folder of one machine: make one below tmpdir(), or take it as a flag`]
        : []),
      ...(climbs.some((steps) => steps > depth) || aboveRoot.test(line)
        ? [`${place} leaves the checkout: keep what it needs inside, or take its path as a flag`]
        : []),
    ];
  });
}

const namedFile = /(?<![\w./'{}-])[A-Za-z][\w-]*(?:\/[\w.-]+)*\.(?:tsx?|mjs|sql|proto|md)\b/g;
const comment = /^\s*(?:\/\/|\/?\*)/;

/**
 * Files that a document or a comment names and that do not exist. A name counts as right where any file's path ends
 * with it. `paths`: every file of the project.
 */
export function missingNames(file: SourceFile, paths: readonly string[]): string[] {
  const isDocument = file.path.endsWith('.md');
  const exists = (name: string): boolean => paths.some((path) => `/${path}`.endsWith(`/${name}`));
  return file.lines.flatMap((line, index) =>
    (isDocument || comment.test(line) ? [...line.matchAll(namedFile)] : [])
      .filter(([name]) => !name.startsWith('google/') && !name.includes('NNNN') && !exists(name))
      .map(([name]) => `${file.path}:${index + 1} names ${name}, which does not exist: correct it`),
  );
}

export function longTests(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isTest(file.path) && file.lines.length - 1 > maxTestLines)
    .map(
      ({ path, lines }) =>
        `${path} has ${lines.length - 1} lines, ${maxTestLines} are allowed: split it by what it tests`,
    );
}
