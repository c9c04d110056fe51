#!/usr/bin/env bash
# Lists in a query string, read by qs 6.17.1 and by express 4.22.1, whose ordinary query parser is qs (here 6.14.3).
# Guess: `arrayLimit` (20) is about written places like a[100]=x, as it was for years: a[]=x, a=x repeated, and a=x,y with
# `comma` are lists however many values there are.
# Seen: the limit counts values. The twenty-first makes an object of the list, {"0":...,"20":...}, in all of
# these forms: it has no length, no map, and Array.isArray is false. Nothing is raised unless `throwOnLimitExceeded` is set.
# So a filter for 21 countries is no filter, or an error, where one for 20 works; set arrayLimit to the bound that is meant.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund qs@6.17.1 express@4.22.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import express from 'express';
import qs from 'qs';
const countries = (count) => Array.from({ length: count }, (_, place) => `c${place}`);
const kindOf = (value) => (Array.isArray(value) ? `list of ${value.length}` : `object of ${Object.keys(value).length}`);
const app = express().get('/', (request, response) => response.json(kindOf(request.query.in)));
const server = app.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const seen = {};
for (const count of [20, 21]) {
  const repeated = countries(count).map((country) => `in=${country}`).join('&');
  const bracketed = repeated.replaceAll('in=', 'in[]=');
  seen[`in[]= of ${count}`] = kindOf(qs.parse(bracketed).in);
  seen[`in= of ${count}`] = kindOf(qs.parse(repeated).in);
  seen[`in=a,b of ${count}`] = kindOf(qs.parse(`in=${countries(count)}`, { comma: true }).in);
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/?${bracketed}`);
  seen[`express in[]= of ${count}`] = await answer.json();
}
server.close();
server.closeAllConnections();
const ofExpress = createRequire(createRequire(import.meta.url).resolve('express')).resolve('qs/package.json');
console.log('qs 6.17.1; express 4.22.1 with qs', JSON.parse(readFileSync(ofExpress, 'utf8')).version, seen);
for (const [form, kind] of Object.entries(seen)) {
  assert.strictEqual(kind, form.endsWith('20') ? 'list of 20' : 'object of 21', form);
}
NODE
timeout 30 node run.mjs
