// How much a reader's browser loads for a page, packed as the service sends it to one that takes gzip.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../harness/source-tree.ts';

const kB = 1_000;
const maxEntryScript = 70 * kB;
const maxScript = 115 * kB;
const maxStyle = 12 * kB;

/** What the build says of a source: its file, and the sources that are loaded with it. */
interface Chunk {
  file: string;
  imports?: string[];
  dynamicImports?: string[];
}

const dist = join(root, 'dist', 'web');
const manifest: Record<string, Chunk> = JSON.parse(
  readFileSync(join(dist, '.vite', 'manifest.json'), 'utf8'),
);

function chunkOf(source: string): Chunk {
  const chunk = manifest[source];
  if (chunk === undefined) throw new Error(`the build knows no ${source}`);
  return chunk;
}

/** The files that are loaded before these sources run. */
function filesOf(sources: readonly string[], seen = new Set<string>()): string[] {
  return sources
    .filter((source) => !seen.has(source))
    .flatMap((source) => {
      seen.add(source);
      const { file, imports = [] } = chunkOf(source);
      return [file, ...filesOf(imports, seen)];
    });
}

function packedBytes(files: readonly string[]): number {
  return [...new Set(files)]
    .map((file) => join(dist, file))
    .reduce((sum, path) => sum + statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size, 0);
}

const loadedByFirst = chunkOf('index.html').dynamicImports ?? [];
/** What the first script loads for every page. */
const app = loadedByFirst.find((source) => /^_app-/.test(source)) ?? '';
const entry = ['index.html', app];
const pages = [
  ...loadedByFirst.filter((source) => source !== app),
  ...(chunkOf(app).dynamicImports ?? []),
];
/** Loaded when the palette opens. */
const ofPalette = 'shell/palette-boards.ts';

it('is small before any page is chosen', () => {
  const files = filesOf(entry);
  expect(packedBytes(files)).toBeGreaterThan(10 * kB);
  expect(packedBytes(files)).toBeLessThanOrEqual(maxEntryScript);
});

it('has one file of styles, for all pages', () => {
  const { file } = chunkOf('style.css');
  expect(readFileSync(join(dist, 'index.html'), 'utf8')).toContain(`href="/${file}"`);
  expect(packedBytes([file])).toBeGreaterThan(5 * kB);
  expect(packedBytes([file])).toBeLessThanOrEqual(maxStyle);
});

describe('the first load', () => {
  it('is known of every page', () => {
    const routes = readFileSync(join(root, 'web', 'routes.ts'), 'utf8');
    const loaded = [...routes.matchAll(/import\('\.\/(.+?)'\)/g)].map(([, source]) => source);
    expect(loaded.length).toBeGreaterThan(10);
    expect([...pages].sort()).toEqual([...new Set(loaded), ofPalette].sort());
  });

  it.each(pages)('of %s is small', (page) => {
    const files = filesOf([...entry, page]);
    expect(packedBytes(files)).toBeLessThanOrEqual(maxScript);
  });

  it('of a board that is edited is small', () => {
    const files = filesOf([...entry, 'boards/board-page.tsx', 'boards/board-editor.tsx']);
    expect(packedBytes(files)).toBeLessThanOrEqual(maxScript);
  });
});
