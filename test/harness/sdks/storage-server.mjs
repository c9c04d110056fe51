// Runs S3-compatible storage of npm, which checks signatures of version 4, in the folder in which it is installed:
// prints its port, and ends with its input.

import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.cwd();
const { resolve } = createRequire(join(folder, 'package.json'));
const { default: S3rver } = await import(pathToFileURL(resolve('@20minutes/s3rver')).href);
const directory = join(folder, 'storage');
mkdirSync(directory);
const server = new S3rver({
  ...{ address: '127.0.0.1', port: 0, silent: true, directory },
  configureBuckets: [{ name: 'bucket' }],
});
const { port } = await server.run();
process.stdout.write(`${port}\n`);
process.stdin.resume().on('end', () => process.exit(0));
