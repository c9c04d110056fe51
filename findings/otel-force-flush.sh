#!/usr/bin/env bash
# forceFlush() of OpenTelemetry's providers for Node (sdk-trace-base and sdk-metrics 2.12.1, sdk-logs 0.223.1, the exporters of
# OTLP by HTTP 0.223) while the collector answers 400, which is no answer to try again.
# Guess: all three tell alike whether what was recorded has arrived: the promise is rejected when it has not.
# Seen: only traces reject. Metrics and logs resolve as after a success, and nothing is kept: with delta temporality the
# counts of that interval are in no later request. The SimpleLogRecordProcessor's resolves before the request is made. An
# exporter that is given to a log processor by position, as to a span processor, is never used, without a word.
# So a process that ends after `await provider.forceFlush()` knows nothing of its metrics and logs; a check needs diag's
# logger or the server's own count.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace-base@2.12.1 \
  @opentelemetry/sdk-metrics@2.12.1 @opentelemetry/sdk-logs@0.223.1 @opentelemetry/exporter-trace-otlp-http@0.223.1 \
  @opentelemetry/exporter-metrics-otlp-http@0.223.0 @opentelemetry/exporter-logs-otlp-http@0.223.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchLogRecordProcessor, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
let bodies = [];
let status = 400;
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  bodies.push(JSON.parse(text));
  // The answer comes late enough for a promise that does not wait for it.
  setTimeout(() => response.writeHead(status, { 'content-type': 'application/json' }).end('{}'), 300);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}/`;
let answered = 0;
server.on('request', (_, response) => response.on('finish', () => answered++));
const flush = async (provider) => {
  answered = 0;
  const outcome = await provider.forceFlush().then(() => 'resolves', () => 'rejects');
  return `${outcome} after ${answered} answers`;
};
const seen = {};
const traces = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))] });
traces.getTracer('shop').startSpan('order').end();
seen.traces = await flush(traces);
const temporalityPreference = AggregationTemporality.DELTA;
const exporter = new OTLPMetricExporter({ url, temporalityPreference });
const metrics = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })] });
const counter = metrics.getMeter('shop').createCounter('orders');
counter.add(5);
seen.metrics = await flush(metrics);
status = 200;
bodies = [];
counter.add(2);
await metrics.forceFlush();
seen.then = bodies.map((body) => body.resourceMetrics[0].scopeMetrics[0].metrics[0].sum.dataPoints[0].asDouble);
status = 400;
const processors = {
  'batch logs': new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url }) }),
  'simple logs': new SimpleLogRecordProcessor({ exporter: new OTLPLogExporter({ url }) }),
  'by position': new BatchLogRecordProcessor(new OTLPLogExporter({ url })),
};
for (const [name, processor] of Object.entries(processors)) {
  bodies = [];
  const logs = new LoggerProvider({ processors: [processor] });
  logs.getLogger('shop').emit({ body: 'paid' });
  seen[name] = await flush(logs);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  seen[name] += `, ${bodies.length} requests in the end`;
}
server.closeAllConnections();
server.close();
console.log('OpenTelemetry 2.12.1 and 0.223, forceFlush() of what is answered 400:', seen);
assert.deepStrictEqual(seen, {
  traces: 'rejects after 1 answers',
  metrics: 'resolves after 1 answers',
  then: [2],
  'batch logs': 'resolves after 1 answers, 1 requests in the end',
  'simple logs': 'resolves after 0 answers, 1 requests in the end',
  'by position': 'resolves after 0 answers, 0 requests in the end',
});
process.exit(0);
NODE
timeout 60 node run.mjs
