// The icons of `icon-table.ts` as files of their own, which a page loads one by one, and a list of them for the pages.
// The module `virtual:icons` has `version`, which is a part of the files' names, and `names`, the values of each group.

import { createHash } from 'node:crypto';
import type { Plugin } from 'vite';
import { slugOf } from '../../marks/slug.ts';
import { drawingOf } from './icon-packages.ts';
import { type IconRow, iconTable } from './icon-table.ts';

const moduleName = 'virtual:icons';
const folder = 'assets/';

/** Vite's plugin. Throws where no package has an icon of the table. */
export function icons(): Plugin {
  const files = iconFiles();
  const version = versionOf(files);
  const named = new Map([...files].map(([name, text]) => [`${name}-${version}.svg`, text]));
  return {
    name: 'icons',
    resolveId: (id) => (id === moduleName ? `\0${moduleName}` : undefined),
    load: (id) => (id === `\0${moduleName}` ? moduleText(version) : undefined),
    generateBundle() {
      for (const [name, source] of named)
        this.emitFile({ type: 'asset', fileName: folder + name, source });
    },
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const text = named.get(request.url?.slice(1 + folder.length) ?? '');
        if (text === undefined) return next();
        response.setHeader('content-type', 'image/svg+xml').end(text);
      });
    },
  };
}

function slugsOf([values]: IconRow): string[] {
  return values.split(', ').map(slugOf);
}

/** SVG by the file's name without version and ending: `icon-browser-mobile-safari`. */
function iconFiles(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(iconTable).flatMap(([group, rows]) =>
      rows.flatMap((row) => {
        const picture = group === 'country' ? flag(row) : tile(row);
        return slugsOf(row).map((slug) => [`icon-${group}-${slug}`, picture] as const);
      }),
    ),
  );
}

const namespace = 'xmlns="http://www.w3.org/2000/svg"';

function flag([, icon]: IconRow): string {
  const { viewBox, elements } = drawingOf(icon);
  return `<svg ${namespace} viewBox="${viewBox}">${elements}</svg>`;
}

/** A square ground of 24, whose corners the page rounds; the icon stands in its middle. */
function tile([, icon, ground = '#fff', ink = '#000']: IconRow): string {
  const { viewBox, elements, inherited } = drawingOf(icon);
  // White is the card's own colour: such an icon may come nearer to the edge.
  const side = ground === '#fff' ? 18 : 15;
  const at = (24 - side) / 2;
  const body =
    `<svg x="${at}" y="${at}" width="${side}" height="${side}" viewBox="${viewBox}"${inherited}>` +
    `${elements}</svg>`;
  return (
    `<svg ${namespace} viewBox="0 0 24 24"><path fill="${ground}" d="M0 0h24v24H0z"/>` +
    `${body.replaceAll('currentColor', ink)}</svg>`
  );
}

/** All files have one version: the pages need not know 350. */
function versionOf(files: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const [name, text] of files) hash.update(`${name} ${text.length} ${text}`);
  return hash.digest('hex').slice(0, 7);
}

function moduleText(version: string): string {
  const names = Object.fromEntries(
    Object.entries(iconTable).map(([group, rows]) => [group, rows.flatMap(slugsOf).join(' ')]),
  );
  return `export const version = '${version}';
    export const names = ${JSON.stringify(names)};`;
}
