// Counters, gauges and histograms of one process, served in Prometheus' text format. Checks the one naming rule; each
// metric and its labels are declared by the file that counts.

import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type LabelValues,
  Registry,
} from 'prom-client';

export type { Counter, Gauge, Histogram } from 'prom-client';

export interface Metrics {
  registry: Registry;
  /**
   * Names are `millrace_<noun>_<unit>` or `millrace_<noun>_total`, and each can be taken once. Label values must come
   * from a closed set: a project, key or event kind as a label would grow without bound.
   */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames?: readonly L[],
  ): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, labelNames?: readonly L[]): Gauge<L>;
  /** `buckets` are upper bounds in the unit of the name, ascending. */
  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames?: readonly L[],
  ): Histogram<L>;
}

const namePattern = /^millrace_[a-z]+(_[a-z0-9]+)+$/;

/** A registry of its own; `processMetrics` adds Node's memory, event loop and garbage collection figures. */
export function createMetrics(options: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    counter: (name, help, labelNames = []) =>
      new Counter({ name: checked(name), help, labelNames, registers }),
    gauge: (name, help, labelNames = []) =>
      new Gauge({ name: checked(name), help, labelNames, registers }),
    histogram: (name, help, buckets, labelNames = []) =>
      new Histogram({ name: checked(name), help, labelNames, buckets: [...buckets], registers }),
  };
}

/** The value of one metric with exactly these labels; 0 before the first recording. */
export async function metricValue(
  metrics: Metrics,
  name: string,
  labels: LabelValues<string> = {},
): Promise<number> {
  const metric = metrics.registry.getSingleMetric(name);
  if (metric === undefined) throw new Error(`metrics: there is no ${name}`);
  const { values } = await metric.get();
  const wanted = JSON.stringify(Object.entries(labels).sort());
  const found = values.find(
    (value) => JSON.stringify(Object.entries(value.labels).sort()) === wanted,
  );
  return found?.value ?? 0;
}

function checked(name: string): string {
  if (namePattern.test(name)) return name;
  throw new Error(`metrics: ${name} is not of the form millrace_<noun>_<unit or total>`);
}
