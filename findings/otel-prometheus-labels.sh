#!/usr/bin/env bash
# What @opentelemetry/exporter-prometheus 0.223.0 (sdk-metrics 2.12.1) writes for names that Prometheus does not have.
# Guess: OpenTelemetry's own rules for Prometheus: attributes whose names become one (a.b and a_b) become one label with
# both values joined by ";", a name that begins with a digit gets a "_" before it, and the unit is appended to the name.
# Seen: the label stands twice in one line; so does `le` where an attribute of a histogram has that name; 0a stays as it
# is, though a metric's name with a digit gets its "_"; and a duration in ms is told by its name alone.
# So one attribute spoils a line for the parser, which may refuse the whole scrape: rename such attributes in a View,
# and write the unit into the name.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @opentelemetry/api@1.9.1 @opentelemetry/sdk-metrics@2.12.1 \
  @opentelemetry/exporter-prometheus@0.223.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
const exporter = new PrometheusExporter({ preventServerStart: true });
const provider = new MeterProvider({ readers: [exporter] });
const meter = provider.getMeter('shop');
meter.createCounter('events').add(1, { 'a.b': 1, a_b: 2 });
meter.createCounter('2nd').add(1, { '0a': 1 });
meter.createHistogram('duration', { unit: 'ms' }).record(7, { le: 'x' });
const { resourceMetrics } = await exporter.collect();
await provider.shutdown();
const lines = new PrometheusSerializer().serialize(resourceMetrics).split('\n')
  .filter((line) => /^(events|_2nd)_total|^duration_(sum|bucket.*le="10"\})/.test(line))
  .map((line) => line.replace(/,?otel_scope_\w+="[^"]*"/g, ''));
console.log('exporter-prometheus 0.223.0:', lines);
assert.deepStrictEqual(lines, [
  'events_total{a_b="1",a_b="2"} 1',
  '_2nd_total{0a="1"} 1',
  'duration_sum{le="x"} 7',
  'duration_bucket{le="x",le="10"} 1',
]);
NODE
timeout 30 node run.mjs
