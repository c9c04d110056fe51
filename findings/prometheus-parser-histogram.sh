#!/usr/bin/env bash
# parse-prometheus-text-format 1.1.1 on histograms and summaries that prom-client 15.1.3 writes.
# Guess: a histogram with a label gives one entry for each value of the label, with buckets, sum and count.
# Seen: as soon as there is a label, all values become one entry without labels, sum or count, whose buckets (or
# quantiles) are those of the last value. Without a label all is there; counters and gauges keep their labels.
# So a page that draws latencies by path from this parser shows one path's numbers as those of all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund parse-prometheus-text-format@1.1.1 prom-client@15.1.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import parse from 'parse-prometheus-text-format';
import { Counter, Histogram, Registry, Summary } from 'prom-client';
const registry = new Registry();
const optionsOf = (name, more) => ({ name, help: name, registers: [registry], ...more });
const labelNames = ['path'];
const plain = new Histogram(optionsOf('plain_seconds', { buckets: [1] }));
const labelled = new Histogram(optionsOf('path_seconds', { buckets: [1], labelNames }));
const summary = new Summary(optionsOf('path_bytes', { percentiles: [0.5], labelNames }));
const counter = new Counter(optionsOf('path_total', { labelNames }));
plain.observe(0.5);
for (const [path, value] of [['/fast', 0.5], ['/slow', 30]]) {
  labelled.observe({ path }, value);
  summary.observe({ path }, value);
  counter.inc({ path });
}
const seen = {};
for (const { name, metrics } of parse(await registry.metrics())) seen[name] = metrics;
console.dir(seen, { depth: 4 });
assert.deepStrictEqual(JSON.parse(JSON.stringify(seen)), {
  plain_seconds: [{ buckets: { 1: '1', '+Inf': '1' }, count: '1', sum: '0.5' }],
  path_seconds: [{ buckets: { 1: '0', '+Inf': '1' } }],
  path_bytes: [{ quantiles: { 0.5: '30' } }],
  path_total: [
    { value: '1', labels: { path: '/fast' } },
    { value: '1', labels: { path: '/slow' } },
  ],
});
NODE
timeout 30 node run.mjs
