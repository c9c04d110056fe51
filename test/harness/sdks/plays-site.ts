// A site of another origin with a page for each SDK of a browser, bundled from the packages as a vendor's users do.
// browser-plays.mjs has what each page does.

import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from '../source-tree.ts';

export interface PageSettings {
  /** The service's address, and the key that the SDK is given. */
  url: string;
  key: string;
  past: string;
}

export interface PlaysSite {
  url: string;
  /** Scripts that pages fetch from vendors' hosts, by address: none of these hosts is asked. */
  vendors: ReadonlyMap<RegExp, string>;
  /** Makes the page at `/SDK`. */
  addPage(sdk: string, settings: PageSettings): void;
  stop(): Promise<void>;
}

const script = 'browser-plays.mjs';
const types = { js: 'text/javascript', html: 'text/html; charset=utf-8' };

/** `folder`: where the packages are installed. */
export async function startPlaysSite(folder: string, umamiScript: string): Promise<PlaysSite> {
  cpSync(join(root, 'test', 'harness', 'sdks', script), join(folder, script));
  const bundle = await rolldown({
    ...{ input: join(folder, script), cwd: folder, platform: 'browser', logLevel: 'silent' },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const { output } = await bundle.generate({ format: 'esm', entryFileNames: 'plays.js' });
  await bundle.close();
  const files = new Map([['/umami.js', umamiScript]]);
  for (const part of output) {
    if (part.type === 'chunk') files.set(`/${part.fileName}`, part.code);
  }
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    const text = files.get(path);
    response.writeHead(text === undefined ? 404 : 200, {
      'content-type': path.endsWith('.js') ? types.js : types.html,
      'cache-control': 'no-store',
    });
    response.end(text ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    vendors: new Map([[rudderStackPlugins, rudderStackScript(folder)]]),
    addPage(sdk, settings) {
      files.set(`/${sdk}`, pageOf(sdk, settings));
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The visitor's first page plays; the next one only goes on. */
function pageOf(sdk: string, settings: PageSettings): string {
  return `<!doctype html><html lang="en"><title>A shop</title><body>
    <script type="module">
      import { play } from '/plays.js';
      const isFirst = sessionStorage.getItem('played') === null;
      sessionStorage.setItem('played', 'yes');
      window.playing = play({ sdk: '${sdk}', ...${JSON.stringify(settings)}, isFirst });
    </script>`;
}

/** Where the default import of its version 3 has its plugins from, which are not on npm by themselves. */
const rudderStackPlugins = /^https:\/\/cdn\.rudderlabs\.com\/.+\/modern\/plugins\/rsa-plugins\.js$/;

/**
 * The same plugins are in the package's bundled build, in the same version: this hands them out as the script of the
 * vendor's host does, one by one.
 */
function rudderStackScript(folder: string): string {
  const build = ['dist', 'npm', 'modern', 'bundled', 'esm', 'index.mjs'];
  const path = join(folder, 'node_modules', '@rudderstack', 'analytics-js', ...build);
  const bundled = readFileSync(path, 'utf8');
  const end = 'export { RudderAnalytics };';
  if (!bundled.includes(end)) throw new Error('RudderStack’s bundled build has another end');
  return bundled.replace(
    end,
    `const handedOut = getBundledBuildPluginImports();
    const handOut = async (name) => () => ({ default: handedOut[name.replace('./', '')] });
    export { handOut as get };
    export function init() {}`,
  );
}

const umamiPackage = 'umami@2.10.0';

/** The tracker's source, which is on npm beside the whole program: what that needs is not installed. */
export function fetchUmamiScript(folder: string): string {
  const run = (program: string, ...args: string[]): void => {
    const { status, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${program} ${args[0]}: ${status} ${stderr}`);
  };
  run('npm', 'pack', '--silent', umamiPackage);
  run('tar', '-xzf', `${umamiPackage.replace('@', '-')}.tgz`, 'package/src/tracker/index.js');
  return readFileSync(join(folder, 'package', 'src', 'tracker', 'index.js'), 'utf8');
}
