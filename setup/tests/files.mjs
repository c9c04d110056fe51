// Every test file: what it starts, and how long it took when it last ran here. The order of a run follows from that,
// and what fits into a short one. Imports no package.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folders of the root without tests of ours. */
export const foreign = ['node_modules', 'dist', 'data'];

/** They install packages of others, and last: they run where they are named, as by `npm run test:sdks`. */
export const outside = process.argv.some((word) => word.startsWith('test/sdks'))
  ? []
  : ['test/sdks'];

/** One more than the smallest machine has cores: the long files wait for servers about as long as they compute. */
export const workers = 3;

const smoke = 'bench/smoke.test.ts';

/** Names in a file that changes or measures its process: that file has its process alone. */
const ownProcess =
  /\bvi\.|\bprocess\.(?!env\['\w+'\] \?\?)|\bperformance\.(?!now\b)|gzip|\bglobal(This)?\.|node:(child_process|worker_threads|perf_hooks)/;
/** Names in a file that starts servers. */
const servers =
  /harness\/(backups|clients|exports|insights|servers|services|tables|web|webhooks)\//;

/** What a file starts, the dearest first, and the seconds that such a file takes where it has not run yet. */
const started = [
  { names: /servers\/stack\.ts|harness\/web\/|harness\/processes\//, seconds: 30 },
  { names: /useEngine|startEngine|startOldDatabase|harness\/(insights|tables)\//, seconds: 12 },
  { names: /useBroker|startBroker|harness\/(services|webhooks)\//, seconds: 5 },
  { names: ownProcess, seconds: 2 },
];
const plainSeconds = 0.3;
/** A longer file of plain functions begins early: at the end it holds up one core. */
const maxPlainSeconds = 5;

/** What a run leaves for the next one here. */
export const keptFolder = join(root, 'node_modules', '.cache', 'millrace');
const keptFile = join(keptFolder, 'test-seconds.json');

/**
 * Paths are relative to the root. Plain files share processes: loading the product costs more than many a file.
 */
export function testFiles() {
  const kept = keptSeconds();
  return paths().map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const seconds = kept[path] ?? estimate(text);
    const isPlain = !ownProcess.test(text) && !servers.test(text) && seconds <= maxPlainSeconds;
    return { path, seconds, isPlain, isSmoke: path === smoke };
  });
}

function paths() {
  const folders = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !foreign.includes(entry.name),
  );
  return folders.flatMap(({ name }) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.test\.tsx?$/.test(file))
      .map((file) => join(name, file))
      .filter((path) => !outside.some((folder) => path.startsWith(`${folder}/`))),
  );
}

/** What a file says of itself, so that the longest begin first on a machine that has not run it, too. */
function estimate(text) {
  const [, said] = /^\/\/ Takes some (\d+) seconds\.$/m.exec(text) ?? [];
  if (said !== undefined) return Number(said);
  return started.find(({ names }) => names.test(text))?.seconds ?? plainSeconds;
}

function keptSeconds() {
  try {
    return JSON.parse(readFileSync(keptFile, 'utf8'));
  } catch {
    return {};
  }
}

/** A reporter of vitest that keeps the seconds of the files that ran whole. */
export default class KeepSeconds {
  #isWhole = true;

  onInit(vitest) {
    this.#isWhole = vitest.config.testNamePattern === undefined;
  }

  onTestRunEnd(modules) {
    const ended = modules.filter((module) => this.#isWhole && module.ok());
    const all = { ...keptSeconds(), ...Object.fromEntries(ended.map(secondsOf)) };
    mkdirSync(dirname(keptFile), { recursive: true });
    writeFileSync(keptFile, JSON.stringify(all));
  }
}

function secondsOf(module) {
  const { collectDuration, duration } = module.diagnostic();
  return [relative(root, module.moduleId), (collectDuration + duration) / 1_000];
}
