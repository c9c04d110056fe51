#!/usr/bin/env bash
# Numbers of OpenTelemetry metrics (sdk-metrics 2.12.1) in OTLP's two forms, by the exporters for JSON and for protobuf 0.223.0.
# Guess: both carry the same: protobuf's JSON form has the texts "NaN" and "Infinity", and 64-bit integers as texts. And a
# counter drops a NaN as a histogram does.
# Seen: JSON has `"asDouble":null` for both, which a reader takes for no value, and an integer as a JSON number in
# JavaScript's shortest digits: 1152921504606847000, where protobuf has 1152921504606846976. One add(NaN) makes a
# counter NaN for as long as the process lives; a histogram drops it.
# So whoever takes OTLP/JSON reads null as "no value", and who counts checks the amounts before add().
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund @opentelemetry/api@1.9.1 @opentelemetry/sdk-metrics@2.12.1 \
  @opentelemetry/exporter-metrics-otlp-http@0.223.0 @opentelemetry/exporter-metrics-otlp-proto@0.223.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ValueType } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
const bodies = [];
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  bodies.push(Buffer.concat(parts));
  response.writeHead(200, { 'content-type': request.headers['content-type'] }).end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/`;
const readers = [new OTLPMetricExporter({ url }), new ProtobufExporter({ url })].map(
  (exporter) => new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 }),
);
const provider = new MeterProvider({ readers });
const meter = provider.getMeter('shop');
meter.createGauge('rate').record(Infinity);
meter.createCounter('bytes', { valueType: ValueType.INT }).add(2 ** 60);
const [revenue, sizes] = [meter.createCounter('revenue'), meter.createHistogram('sizes')];
for (const value of [5, NaN, 5]) {
  revenue.add(value);
  sizes.record(value);
}
await provider.forceFlush();
server.closeAllConnections();
server.close();
const text = bodies.find((body) => body[0] === 0x7b).toString();
const binary = bodies.find((body) => body[0] !== 0x7b);
const [{ metrics }] = JSON.parse(text).resourceMetrics[0].scopeMetrics;
const of = (name) => Object.values(metrics.find((metric) => metric.name === name)).find((value) => value.dataPoints).dataPoints[0];
const integer = /"asInt":[^,}]*/.exec(text)[0];
const seen = { rate: of('rate').asDouble, revenue: of('revenue').asDouble, sizes: of('sizes').sum, integer };
// In protobuf as_double is the field 4 (tag 0x21), as_int is 6 (0x31), both of 8 bytes, the least one first.
const asDouble = (value) => {
  const field = Buffer.alloc(9, 0x21);
  field.writeDoubleLE(value, 1);
  return binary.includes(field);
};
const asInt = Buffer.alloc(9, 0x31);
asInt.writeBigInt64LE(2n ** 60n, 1);
const inProtobuf = { rate: asDouble(Infinity), revenue: asDouble(NaN), integer: binary.includes(asInt) };
console.log('OTLP/JSON:', seen, 'OTLP in protobuf has Infinity, NaN and 2^60:', inProtobuf);
assert.deepStrictEqual(seen, { rate: null, revenue: null, sizes: 10, integer: '"asInt":1152921504606847000' });
assert.deepStrictEqual(inProtobuf, { rate: true, revenue: true, integer: true });
process.exit(0);
NODE
timeout 60 node run.mjs
