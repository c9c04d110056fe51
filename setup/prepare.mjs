// Makes a clean clone ready to run: npm packages, the nats-server binary, the build; for tests a browser too. Does
// nothing where nothing is missing. Imports no package, because it runs before any is installed.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs all steps in order, the build unless the caller does; exits with code 1 and one sentence where one fails. */
export function prepare({ needsBroker, needsBrowser = false, builds = true }) {
  requireNode(20, 19);
  installPackages();
  if (needsBroker) installBroker();
  if (needsBrowser) installBrowser();
  if (builds) build();
}

function fail(sentence) {
  process.stderr.write(`millrace: ${sentence}\n`);
  process.exit(1);
}

function say(sentence) {
  process.stderr.write(`millrace: ${sentence}\n`);
}

function requireNode(major, minor) {
  const [haveMajor = 0, haveMinor = 0] = process.versions.node.split('.').map(Number);
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return;
  fail(`Node ${major}.${minor} or newer is needed, this is ${process.versions.node}`);
}

function installPackages() {
  const stamp = join(root, 'node_modules', '.millrace-stamp');
  const wanted = hashOf(['package-lock.json']);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  say('installing npm packages');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  // Not `npm ci`: it refuses a lock file that lacks other platforms' builds, which some registries do not carry.
  // `--no-save` still installs the versions of the lock file and leaves it unchanged.
  const run = spawnSync(
    npm,
    ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
    },
  );
  if (run.status !== 0) fail('`npm install` failed: its message is above');
  writeFileSync(stamp, wanted);
}

function installBroker() {
  const binary = process.env.MILLRACE_NATS_SERVER ?? 'nats-server';
  if (spawnSync(binary, ['--version']).status === 0) return;
  // A named binary that is missing is the user's mistake, and no package repairs it: the service reports it.
  if (process.env.MILLRACE_NATS_SERVER) return;
  const advice =
    'install it (Debian and Ubuntu: `apt-get install nats-server`; macOS: `brew install nats-server`), ' +
    'name it in MILLRACE_NATS_SERVER, or point NATS_URL at a broker of your own';
  if (spawnSync('apt-get', ['--version']).status !== 0) fail(`nats-server is missing: ${advice}`);
  // Debian's package starts its own server as well. The embedded broker takes a free port, so that the two never meet.
  if (!installPackage('nats-server')) fail(`nats-server could not be installed: ${advice}`);
  if (spawnSync(binary, ['--version']).status !== 0) fail(`nats-server is missing: ${advice}`);
}

/** Under these names test/harness/clients/browser.ts looks for it. */
const browsers = ['chromium', 'chromium-browser', 'google-chrome'];

/** Without one the tests that need it are skipped, and counted as skipped. */
function installBrowser() {
  const isThere = () => browsers.some((name) => spawnSync(name, ['--version']).status === 0);
  if (isThere()) return;
  if (spawnSync('apt-get', ['--version']).status === 0) installPackage('chromium');
  if (isThere()) return;
  say(
    'tests in a browser are skipped: install Chromium, so that `chromium` is on the PATH ' +
      '(Debian: `apt-get install chromium`)',
  );
}

/** Through apt; false where that fails. */
function installPackage(name) {
  say(`installing the ${name} package`);
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const run = (...words) => {
    const [command, ...args] = [...asRoot, ...words];
    return spawnSync(command, args, {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status;
  };
  const install = () => run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', name);
  if (install() === 0) return true;
  run('apt-get', 'update', '-qq');
  return install() === 0;
}

const sourceFolders =
  'proto platform ingest pipeline query control webhooks alerts reports erasure sql backup sdk demo history load bench test setup'.split(
    ' ',
  );
const sourceEndings = new Set(['.ts', '.js', '.mjs', '.sql', '.binpb', '.wasm']);
const stampName = '.stamp';

/**
 * Compiles to dist/, and the web app to dist/web/, each where a source of it differs from its last build. A failed
 * build leaves the last one in place. `isChecked`: types are right.
 */
export function build({ isChecked = false } = {}) {
  buildService(isChecked);
  buildPages();
}

function buildService(isChecked) {
  const dist = join(root, 'dist');
  const wanted = hashOf(serviceSources());
  if (isBuilt(dist, wanted)) return;
  say('building');
  const next = join(root, 'dist.next');
  rmSync(next, { recursive: true, force: true });
  runSteps(
    [
      join('node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      'tsconfig.build.json',
      '--outDir',
      next,
      ...(isChecked ? ['--noCheck'] : []),
    ],
    [join('setup', 'browser-script.mjs'), join(next, 'sdk', 'browser')],
  );
  const assets = ['proto/gen', 'proto/descriptors.binpb', 'sql/migrations', 'sql/engine/users.xml'];
  const thread = 'control/auth/password-thread.mjs';
  for (const asset of [
    ...assets,
    thread,
    'proto/wire/scanner/scanner.wasm',
    'proto/wire/lz4/lz4.wasm',
    'proto/wire/city-hash/city-hash.wasm',
  ]) {
    cpSync(join(root, asset), join(next, asset), { recursive: true });
  }
  writeFileSync(join(next, stampName), wanted);
  // The pages have a stamp of their own.
  const pages = join(dist, 'web');
  if (existsSync(pages)) renameSync(pages, join(next, 'web'));
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}

function buildPages() {
  const pages = join(root, 'dist', 'web');
  if (!existsSync(join(root, 'web', 'index.html'))) return;
  const wanted = hashOf(pageSources());
  if (isBuilt(pages, wanted)) return;
  say('building the pages');
  const next = join(root, 'dist.next');
  rmSync(next, { recursive: true, force: true });
  runSteps([join('setup', 'web-pages.mjs'), next]);
  writeFileSync(join(next, stampName), wanted);
  rmSync(pages, { recursive: true, force: true });
  renameSync(next, pages);
}

function isBuilt(folder, wanted) {
  const stamp = join(folder, stampName);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

/** Each a node script with its arguments. */
function runSteps(...steps) {
  try {
    for (const words of steps) {
      execFileSync(process.execPath, words, { cwd: root, stdio: ['ignore', 2, 2] });
    }
  } catch {
    fail('the build failed: its message is above');
  }
}

function serviceSources() {
  const entries = readdirSync(root).filter((name) => extname(name) === '.ts');
  const files = [...entries, 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];
  for (const folder of sourceFolders) {
    files.push(...filesIn(folder).filter((name) => sourceEndings.has(extname(name))));
  }
  return files;
}

function pageSources() {
  return [
    ...['package-lock.json', 'setup/web-pages.mjs'],
    ...filesIn(join('proto', 'gen')),
    ...filesIn('web').filter((name) => !/\.test\.tsx?$/.test(name)),
  ];
}

/** Files of the folder and below it, relative to the root. */
function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(relative(root, entry.parentPath), entry.name));
}

function hashOf(names) {
  const hash = createHash('sha256');
  for (const name of names.toSorted()) hash.update(name).update(readFileSync(join(root, name)));
  return hash.digest('hex');
}
