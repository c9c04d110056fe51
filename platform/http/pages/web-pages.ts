// The web app, as the build left it: one page at every path that a browser may open, and the assets that the page
// names. Paths are looked up in a map of what was read at the start, so that no path leads into the file system.

import { existsSync, readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import type { EmbedOriginsOf } from '../../dashboards/embed-origins.ts';
import type { NodeHttpRoute } from '../http.ts';
import { answerPackedFile, immutable, type PackedFile, readPackedFile } from './packed-file.ts';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Each process holds all files. The build has far fewer bytes: more are a mistake, such as source maps. */
const maxBytes = 8 * 1_024 * 1_024;

const assetHeaders = {
  'cache-control': immutable,
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  vary: 'accept-encoding',
};

/** The page runs and loads what this service sent, talks to it alone, and writes no HTML by text. */
const policyFor = (ancestors: string): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  `font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors ${ancestors}; ` +
  "require-trusted-types-for 'script'; trusted-types 'none'";

/** It is in no frame. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': policyFor("'none'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'accept, accept-encoding',
};

/**
 * Reads `folder`, which has `index.html` and `assets/`, once; undefined where the web app was not built. Throws where
 * it has more than 8 MiB. The page of a shared dashboard may be in frames of `embedOriginsOf` its token. Must be the
 * last route but the front page: it takes each path that a client of the app may have.
 */
export function createWebPages(
  folder: string,
  embedOriginsOf: EmbedOriginsOf = () => [],
): NodeHttpRoute | undefined {
  const indexFile = join(folder, 'index.html');
  if (!existsSync(indexFile)) return undefined;
  const index = readPackedFile(indexFile);
  const assets = readAssets(join(folder, 'assets'));
  return (request, response, { path }) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const asset = assets.get(path);
    if (asset !== undefined) {
      answerPackedFile(request, response, asset.file, asset.headers);
      return true;
    }
    if (!isPagePath(path) || !/\btext\/html\b/.test(request.headers.accept ?? '')) return false;
    const origins = embedOriginsOf(/^\/s\/([^/]+)\/?$/.exec(path)?.[1] ?? '');
    if (origins.length === 0) answerPackedFile(request, response, index, pageHeaders);
    else answerEmbedded(request, response, index, origins);
    return true;
  };
}

/** No browser keeps it: a copy would be shown in frames after the share has ended. */
function answerEmbedded(
  request: IncomingMessage,
  response: ServerResponse,
  index: PackedFile,
  origins: readonly string[],
): void {
  delete request.headers['if-none-match'];
  answerPackedFile(request, response, index, {
    ...pageHeaders,
    'cache-control': 'no-store',
    'content-security-policy': policyFor(origins.join(' ')),
    'cross-origin-resource-policy': 'cross-origin',
  });
}

/** Every file and method of the service has a point in its path, and REST is below /v1. */
function isPagePath(path: string): boolean {
  return !path.includes('.') && path !== '/v1' && !path.startsWith('/v1/');
}

interface Asset {
  file: PackedFile;
  headers: Readonly<Record<string, string>>;
}

/** By the path of its URL. */
function readAssets(folder: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  let bytes = 0;
  const names = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of names.filter((name) => !/\.(?:br|gz)$/.test(name))) {
    const file = readPackedFile(join(folder, name));
    for (const body of [file.plain, ...Object.values(file.packed)]) bytes += body.length;
    if (bytes > maxBytes) throw new Error(`${folder} has more than ${maxBytes} bytes`);
    const type = types[extname(name)] ?? 'application/octet-stream';
    assets.set(`/assets/${name}`, { file, headers: { ...assetHeaders, 'content-type': type } });
  }
  return assets;
}
