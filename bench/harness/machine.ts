// The machine that a figure was taken on: without it the figure means nothing.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from '../../test/harness/source-tree.ts';

export interface Machine {
  cores: number;
  processor: string;
  memoryGiB: number;
  node: string;
  natsServer: string;
  chdb: string;
  /** Average of the minute before: much above the number of cores, only ratios and CPU times can be trusted. */
  loadAverage: number;
  /** RFC 3339. */
  takenAt: string;
}

/** The machine at this moment, with the versions of the programs that the benches start. */
export function machineFacts(): Machine {
  const processors = cpus();
  return {
    cores: processors.length,
    processor: processors[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    natsServer: versionIn(spawnSync('nats-server', ['--version'], { encoding: 'utf8' }).stdout),
    chdb: JSON.parse(readFileSync(chdbPackage, 'utf8')).version,
    loadAverage: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    takenAt: new Date().toISOString(),
  };
}

const chdbPackage = join(root, 'node_modules', 'chdb', 'package.json');

function versionIn(text: string): string {
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? 'unknown';
}
