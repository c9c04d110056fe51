// The icons in the built app: each that the pages know of is a file of ours that draws by itself.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { root } from '../harness/source-tree.ts';

const assets = join(root, 'dist', 'web', 'assets');
const files = readdirSync(assets);
const [listFile = ''] = files.filter((name) => /^_?virtual.icons-.*\.js$/.test(name));
const { version, names }: { version: string; names: Record<string, string> } = await import(
  pathToFileURL(join(assets, listFile)).href
);

const known = Object.entries(names).flatMap(([group, values]) =>
  values.split(' ').map((value) => `icon-${group}-${value}-${version}.svg`),
);

it('are files, and no others are', () => {
  expect(known.length).toBeGreaterThan(350);
  expect(files.filter((name) => /^icon-.*\.svg$/.test(name)).sort()).toEqual(known.sort());
});

/** A page shows ten of them at once, on a slow line too. */
const maxBytes = 6_000;

it.each(known)('%s draws by itself and is small', (name) => {
  const path = join(assets, name);
  const text = readFileSync(path, 'utf8');
  expect(text).toMatch(
    /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="[\d. ]+">.*<\/svg>$/s,
  );
  expect(text.replace(/xmlns="[^"]*"/g, '')).not.toMatch(
    /currentColor|<script|<style|<image|href="(?!#)|https?:|url\((?!#)|\bon\w+=/,
  );
  expect(statSync(path).size).toBeLessThanOrEqual(maxBytes);
});
