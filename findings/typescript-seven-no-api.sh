#!/usr/bin/env bash
# The package typescript 7.0.2, the first release line whose compiler is a native program.
# Guess: `require('typescript')` has the compiler's functions as in each major before, and what a tool like ts-node
# 10.9.2 asks of its peer (`typescript >= 2.7`) is enough for it to run.
# Seen: the package's main entry exports its version and nothing else: no createProgram, no transpileModule, no sys. What
# there is of an interface lies below `typescript/unstable/`, in other shapes, and talks to the native program. npm installs the two without a
# warning, and ts-node ends with a TypeError before it reads a file.
# So whatever reads sources with the compiler stays on 6, or is written anew for `unstable/`; a peer range says nothing.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo 'skipped: tried on Linux only'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
timeout 300 npm install --no-audit --no-fund typescript@7.0.2 ts-node@10.9.2 >npm.txt 2>&1
echo 'const greeting: string = "read"; console.log(greeting);' >greet.ts
timeout 60 node_modules/.bin/ts-node greet.ts >run.txt 2>&1 || true
timeout 60 node - <<'NODE'
const assert = require('node:assert');
const { readFileSync } = require('node:fs');
const compiler = require('typescript');
const { exports: entries } = require('typescript/package.json');
const run = readFileSync('run.txt', 'utf8');
const seen = {
  'main entry': Object.keys(compiler).sort(),
  'other entries': Object.keys(entries).filter((name) => !['.', './package.json'].includes(name)).every((name) => name.startsWith('./unstable/')),
  'npm warns': /ERESOLVE|warn/i.test(readFileSync('npm.txt', 'utf8').replace(/.*deprecated.*/g, '')),
  'what the peer asks': require('ts-node/package.json').peerDependencies.typescript,
  'ts-node': /^TypeError: .*$/m.exec(run)?.[0] ?? run.trim(),
};
console.log(seen);
assert.deepStrictEqual(seen, {
  'main entry': ['version', 'versionMajorMinor'],
  'other entries': true,
  'npm warns': false,
  'what the peer asks': '>=2.7',
  'ts-node': "TypeError: Cannot read properties of undefined (reading 'fileExists')",
});
NODE
