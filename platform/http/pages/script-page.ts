// The browser's script, as the build left it: to everybody, at its paths and under a name that tells its content, which
// may be kept for ever.

import type { NodeHttpRoute } from '../http.ts';
import { answerPackedFile, immutable, readPackedFile } from './packed-file.ts';

/** An hour, because people put up a new version by restarting the service; a day more while the new one is fetched. */
const moving = 'public, max-age=3600, stale-while-revalidate=86400';

/** Pages of every origin may load it, with `integrity` too. */
const fixedHeaders = {
  'content-type': 'text/javascript; charset=utf-8',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
  vary: 'accept-encoding',
};

/** Reads the file and its packed forms once. `paths` end in .js; each also answers with the version in its name. */
export function createScriptPage(path: string, paths: readonly string[]): NodeHttpRoute {
  const file = readPackedFile(path);
  const versionedOf = (path: string): string => path.replace(/\.js$/, `-${file.version}.js`);
  const versionedPaths = new Set(paths.map(versionedOf));
  const movingPaths = new Set(paths);
  return (request, response, { path }) => {
    const isImmutable = versionedPaths.has(path);
    if (!isImmutable && !movingPaths.has(path)) return false;
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    answerPackedFile(request, response, file, {
      ...fixedHeaders,
      'cache-control': isImmutable ? immutable : moving,
      ...(!isImmutable && { 'content-location': versionedOf(path) }),
    });
    return true;
  };
}
