// The metrics of several processes on one page: the label `process` of each series names its process. Series are not
// added up, because a restarted process counts from zero, and only its own series may show that.

import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** One process's metrics, as prom-client's getMetricsAsJSON gives them. */
interface ProcessMetrics {
  process: string;
  metrics: unknown;
}

/** All series in Prometheus' text format. */
export function metricsText(processes: readonly ProcessMetrics[]): Promise<string> {
  const labelled = processes.map(({ process, metrics }) =>
    metricsOf(metrics).map((metric) => ({
      ...metric,
      // Summing keeps every series, because no two have the same labels.
      aggregator: 'sum',
      values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } })),
    })),
  );
  return AggregatorRegistry.aggregate(labelled).metrics();
}

type Metric = MetricObjectWithValues<MetricValue<string>>;

function metricsOf(value: unknown): Metric[] {
  return Array.isArray(value) ? value.filter(isMetric) : [];
}

function isMetric(value: unknown): value is Metric {
  return typeof value === 'object' && value !== null && Array.isArray(Reflect.get(value, 'values'));
}
