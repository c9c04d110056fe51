#!/usr/bin/env bash
# ua-parser-js 1.0.41 on agents of pages that are opened inside apps.
# Guess: a WebView ("; wv") without a model has none, and a phone whose app adds a token of its own between "Mobile" and
# "Safari" stays a phone: "Mobile" is there.
# Seen: "wv" itself becomes the model, and such a phone with Chrome's reduced agent ("Android 10; K") is a tablet.
# So reports by device show a model "wv", and visits inside apps count as those of tablets.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund ua-parser-js@1.0.41 >/dev/null
timeout 30 node - <<'NODE'
const assert = require('node:assert');
const parser = require('ua-parser-js');
const agentOf = (system, token) =>
  `Mozilla/5.0 (Linux; ${system}) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile ${token}Safari/537.36`;
const deviceOf = (agent) => {
  const { model = 'none', type = 'none' } = parser(agent).device;
  return `model ${model}, type ${type}`;
};
const seen = {
  'WebView without a model': deviceOf(agentOf('Android 10; wv', '')),
  'reduced agent': deviceOf(agentOf('Android 10; K', '')),
  'reduced agent inside an app': deviceOf(agentOf('Android 10; K', 'SomeApp/5 ')),
};
console.log(`ua-parser-js ${require('ua-parser-js/package.json').version}`, seen);
assert.deepStrictEqual(seen, {
  'WebView without a model': 'model wv, type mobile',
  'reduced agent': 'model K, type mobile',
  'reduced agent inside an app': 'model K, type tablet',
});
NODE
