#!/usr/bin/env bash
# A line of pino 10.4.0 whose formatter of the level gives nothing.
# Guess: `formatters.level: () => ({})` leaves the level out, and the line is `{"msg":"started"}`.
# Seen: the line is `{,"msg":"started"}`, which no parser takes; with a time or a base it begins with `{,` as well.
# So a log without levels keeps them, and they are dropped where its lines are read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund pino@10.4.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import pino from 'pino';
const lineOf = (options) => {
  let line = '';
  pino(options, { write: (text) => { line += text; } }).info('started');
  return line.trim();
};
const formatters = { level: () => ({}) };
const lines = {
  'neither time nor base': lineOf({ base: null, timestamp: false, formatters }),
  'a base': lineOf({ base: { service: 'x' }, timestamp: false, formatters }),
  'a time': lineOf({ base: null, timestamp: () => ',"at":1', formatters }),
  'with its level': lineOf({ base: null, timestamp: false }),
};
console.log(lines);
assert.strictEqual(lines['neither time nor base'], '{,"msg":"started"}');
assert.strictEqual(lines['a base'], '{,"service":"x","msg":"started"}');
assert.strictEqual(lines['a time'], '{,"at":1,"msg":"started"}');
assert.strictEqual(lines['with its level'], '{"level":30,"msg":"started"}');
NODE
timeout 30 node run.mjs
