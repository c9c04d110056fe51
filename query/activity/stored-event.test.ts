// Every kind of value that an event can hold, from its row to the answer. Selecting events is list-activity.test.ts's.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngine } from '../../test/harness/servers/engine.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';

const method = 'shared.activity.v1.ActivityService/List';
const occurTimeMs = Date.UTC(2026, 9, 10, 12, 0, 0, 123);

let engine: Awaited<ReturnType<typeof startEngine>>;
let service: ReadService;
beforeAll(async () => {
  engine = await startEngine();
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(async () => {
  await service?.stop();
  await engine?.stop();
});

describe('an event is answered as it was stored', () => {
  const projectId = `prj_${randomUUID()}`;
  const row = storedRow({
    projectId,
    kind: 'svc-like.Kind_1',
    distinctId: 'Ünï"\'\\`$\u0000 💥',
    occurTimeMs,
    columns: {
      browser: 'Lynx',
      country: 'DE',
      url: "https://e.org/?a='\\",
      utm_source: '{x:String}',
    },
    strings: {
      '': 'empty key',
      empty: '',
      $city: '',
      ['__proto__']: 'p',
      constructor: 'c',
      'a.b': 'dot',
      'ключ 🔑': '💥\u0000\n\t\\"\'`\u2028',
      date: '2026-1-2',
      null: 'null',
    },
    ints: { max: 2n ** 63n - 1n, min: -(2n ** 63n), big: 9007199254740993n, zero: 0n, $os: 7n },
    doubles: {
      tiny: 5e-324,
      huge: 1.7976931348623157e308,
      whole: 12,
      tenth: 0.1,
      minus: -0,
      e21: 1e21,
    },
    bools: { yes: true, no: false, $mobile: false },
    times: {
      ms: 1_774_749_599_123,
      old: -14_182_940_000,
      first: -62_135_596_800_000,
      last: 253_402_300_799_999,
    },
  });
  beforeAll(() => storeRows(service.clickhouse, [row]));

  it('in binary', async () => {
    const { events, nextPageToken } = await service.activity(projectId).list({});
    expect(nextPageToken).toBe('');
    expect(events).toHaveLength(1);
    const [event] = events;
    expect(event).toMatchObject({
      eventId: row.eventId,
      kind: row.kind,
      distinctId: row.distinctId,
      sessionId: row.sessionId,
      occurTime: timestampFromMs(row.occurTimeMs),
    });
    expect(event?.profileId).toMatch(/^[0-9a-f]{32}$/);
    const auto = Object.entries(event?.autoProperties ?? {}).map(([key, { value }]) => [
      key,
      value.value,
    ]);
    expect(Object.fromEntries(auto)).toEqual({
      $browser: 'Lynx',
      $country: 'DE',
      $url: "https://e.org/?a='\\",
      $utmSource: '{x:String}',
      $city: '',
      $os: 7n,
      $mobile: false,
    });
    const custom = event?.customProperties ?? {};
    for (const [key, value] of Object.entries(row.strings)) {
      if (key.startsWith('$') || key === '__proto__') continue;
      expect(custom[key]?.value).toEqual({ case: 'stringValue', value });
    }
    for (const [key, value] of Object.entries(row.ints)) {
      if (key !== '$os') expect(custom[key]?.value).toEqual({ case: 'intValue', value });
    }
    for (const [key, value] of Object.entries(row.doubles)) {
      expect(custom[key]?.value).toEqual({ case: 'doubleValue', value });
    }
    for (const [key, ms] of Object.entries(row.times)) {
      expect(custom[key]?.value).toEqual({
        case: 'timestampValue',
        value: expect.objectContaining({
          seconds: timestampFromMs(ms).seconds,
          nanos: timestampFromMs(ms).nanos,
        }),
      });
    }
    expect(custom['yes']?.value).toEqual({ case: 'boolValue', value: true });
    expect(custom['no']?.value).toEqual({ case: 'boolValue', value: false });
  });

  it('in JSON, the sign of -0 and the key __proto__ included', async () => {
    const { status, text } = await service.post(projectId, method, {});
    expect(status).toBe(200);
    const [event] = JSON.parse(text).events;
    expect(event.occurTime).toBe('2026-10-10T12:00:00.123Z');
    const custom = new Map(Object.entries(event.customProperties));
    expect(custom.get('__proto__')).toEqual({ stringValue: 'p' });
    expect(custom.get('minus')).toEqual({ doubleValue: -0 });
    expect(custom.get('tiny')).toEqual({ doubleValue: 5e-324 });
    expect(custom.get('max')).toEqual({ intValue: '9223372036854775807' });
    expect(custom.get('last')).toEqual({ timestampValue: '9999-12-31T23:59:59.999Z' });
    expect(custom.get('empty')).toEqual({ stringValue: '' });
    expect(custom.get('no')).toEqual({ boolValue: false });
    expect(custom.size).toBe(
      [row.strings, row.ints, row.doubles, row.bools, row.times]
        .flatMap((map) => Object.keys(map))
        .filter((key) => !key.startsWith('$')).length,
    );
  });
});
