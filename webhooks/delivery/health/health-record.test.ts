import { describe, expect, it } from 'vitest';
import {
  type HealthChange,
  healthAfter,
  pauseReasonOf,
  readWebhookHealth,
  type WebhookHealthRecord,
} from './health-record.ts';

const hourMs = 3_600_000;
const startMs = Date.parse('2026-03-01T00:00:00.000Z');
const webhook = { activeTime: new Date(startMs).toISOString() };
const failing = (...ids: string[]): HealthChange => ({ failedDeliveries: new Set(ids) });
const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `delivery-${n}`);

function recordAfter(...changes: HealthChange[]): WebhookHealthRecord | undefined {
  return changes.reduce<WebhookHealthRecord | undefined>(
    (record, change) => healthAfter(record, change, webhook),
    undefined,
  );
}

describe('failed deliveries', () => {
  it('count once each, however often one is tried or its attempt repeated', () => {
    expect(
      recordAfter(failing('a', 'b'), failing('b'), failing('a', 'c'))?.failedDeliveries,
    ).toEqual(['a', 'b', 'c']);
  });

  it('count from the last success', () => {
    const record = recordAfter(failing(...ids(99)), { ...failing('x'), succeededMs: startMs + 1 });
    expect(record?.failedDeliveries).toEqual(['x']);
    expect(record?.lastSuccessTime).toBe(new Date(startMs + 1).toISOString());
  });

  it('pause the webhook when a hundred have failed in a row', () => {
    const record = recordAfter(failing(...ids(99)));
    expect(record && pauseReasonOf(record, undefined)).toBeUndefined();
    const full = recordAfter(failing(...ids(100)));
    expect(full && pauseReasonOf(full, undefined)).toBe('FAILURES_IN_A_ROW');
    expect(Buffer.byteLength(JSON.stringify(full))).toBeLessThan(4_096);
  });

  it('count anew once the webhook is resumed', () => {
    const before = recordAfter(failing(...ids(100)));
    const activeTime = new Date(startMs + hourMs).toISOString();
    const record = healthAfter(before, failing('x'), { activeTime });
    expect(record).toMatchObject({ activeTime, failedDeliveries: ['x'] });
  });
});

describe('exhausted deliveries', () => {
  const exhausted = (hours: number): HealthChange => ({
    ...failing(`at-${hours}`),
    exhaustedMs: startMs + hours * hourMs,
  });
  const reason = (record: WebhookHealthRecord | undefined, hours: number) =>
    record && pauseReasonOf(record, startMs + hours * hourMs);

  it('pause a webhook after five days without success, where two are 12 h apart', () => {
    expect(reason(recordAfter(exhausted(120)), 120)).toBeUndefined();
    expect(reason(recordAfter(exhausted(108), exhausted(119)), 119)).toBeUndefined();
    expect(reason(recordAfter(exhausted(110), exhausted(121)), 121)).toBeUndefined();
    expect(reason(recordAfter(exhausted(108), exhausted(120)), 120)).toBe('NO_SUCCESS_FOR_DAYS');
    const succeeded = { ...failing(), succeededMs: startMs + 10 * hourMs };
    expect(reason(recordAfter(succeeded, exhausted(108), exhausted(121)), 121)).toBeUndefined();
    expect(reason(recordAfter(succeeded, exhausted(108), exhausted(130)), 130)).toBe(
      'NO_SUCCESS_FOR_DAYS',
    );
  });

  it('from before a success count no more', () => {
    const succeeded = { ...failing(), succeededMs: startMs + 30 * hourMs };
    const record = recordAfter(exhausted(27), succeeded, exhausted(160));
    expect(reason(record, 160)).toBeUndefined();
  });
});

it('a record keeps the fields of others, and junk is no record', () => {
  const before = { schemaVersion: 1 as const, ...webhook, noticed: 7 };
  expect(healthAfter(before, failing('a'), webhook)).toMatchObject({ noticed: 7 });
  expect(readWebhookHealth(before)).toBe(before);
  expect(readWebhookHealth({ ...before, failedDeliveries: [1] })).toBeUndefined();
  expect(readWebhookHealth({ schemaVersion: 2 })).toBeUndefined();
});
