import { expect, it } from 'vitest';
import { createMetrics, metricValue } from './metrics.ts';

it('serves its counts in the text format', async () => {
  const metrics = createMetrics();
  const rejected = metrics.counter('millrace_rejected_total', 'Requests refused.', ['rule']);
  const inFlight = metrics.gauge('millrace_in_flight_bytes', 'Bytes waiting.');
  const insert = metrics.histogram('millrace_insert_seconds', 'Insert time.', [0.1, 1]);
  rejected.inc({ rule: 'kind' }, 2);
  inFlight.set(7);
  insert.observe(0.5);

  const text = await metrics.registry.metrics();
  expect(text).toContain('millrace_rejected_total{rule="kind"} 2');
  expect(text).toContain('millrace_in_flight_bytes 7');
  expect(text).toContain('millrace_insert_seconds_bucket{le="0.1"} 0');
  expect(text).toContain('millrace_insert_seconds_bucket{le="1"} 1');
  expect(await metricValue(metrics, 'millrace_rejected_total', { rule: 'kind' })).toBe(2);
  expect(await metricValue(metrics, 'millrace_rejected_total', { rule: 'other' })).toBe(0);
});

it('keeps registries apart, and refuses a repeated name and one without the prefix', () => {
  const metrics = createMetrics();
  metrics.counter('millrace_frames_total', 'Frames.');
  createMetrics().counter('millrace_frames_total', 'Frames.');
  expect(() => metrics.counter('millrace_frames_total', 'Frames.')).toThrow(
    'already been registered',
  );
  expect(() => metrics.counter('frames_total', 'Frames.')).toThrow(
    'frames_total is not of the form millrace_<noun>_<unit or total>',
  );
});

it("adds the process's own figures when asked", async () => {
  const text = await createMetrics({ processMetrics: true }).registry.metrics();
  expect(text).toContain('process_resident_memory_bytes');
  expect(await createMetrics().registry.metrics()).not.toContain('process_');
});
