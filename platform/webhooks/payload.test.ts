import { describe, expect, it } from 'vitest';
import { type PayloadValue, payloadOf, renderEvent } from './payload.ts';

const about = {
  organizationId: 'acme',
  projectId: 'p',
  eventType: 'message_sent',
  occurTimeMs: Date.UTC(2026, 10, 20, 10, 0, 0, 5),
  source: 'PRIVATE',
  eventId: '0198b6a0-0000-7000-8000-000000000001',
  distinctId: 'ann',
} as const;

function payload(...properties: [string, PayloadValue][]): string {
  return payloadOf('d1', 'w1', renderEvent({ ...about, properties: new Map(properties) }));
}

/** The names in `data` with their values as text, in order; JSON.parse would lose `__proto__` to an assignment. */
function dataOf(...properties: [string, PayloadValue][]): [string, unknown][] {
  const parsed: { data: Record<string, unknown> } = JSON.parse(payload(...properties));
  return Object.entries(parsed.data).slice(2);
}

describe('a payload', () => {
  it('is these bytes, whatever the order of the properties', () => {
    const expected =
      '{"deliveryId":"d1","webhookId":"w1","organizationId":"acme","projectId":"p",' +
      '"eventType":"message_sent","occurTime":"2026-11-20T10:00:00.005Z","source":"PRIVATE",' +
      '"data":{"eventId":"0198b6a0-0000-7000-8000-000000000001","distinctId":"ann",' +
      '"roomId":"r1","spaceId":"s1","blockId":"7","roomType":"chat",' +
      '"isFirst":true,"messageId":"12","ratio":0.5,"sentAt":"2026-11-20T00:00:00.000Z","textOf":"a"}}';
    const properties: [string, PayloadValue][] = [
      ['room_id', 'r1'],
      ['text_of', 'a'],
      ['blockId', 7],
      ['message_id', 12],
      ['room_type', 'chat'],
      ['ratio', 0.5],
      ['is_first', true],
      ['sent_at', new Date(Date.UTC(2026, 10, 20))],
      ['space_id', 's1'],
    ];
    expect(payload(...properties)).toBe(expected);
    expect(payload(...properties.reverse())).toBe(expected);
  });

  it('of the type event has the kind, and no property takes its name', () => {
    const properties = new Map<string, PayloadValue>([
      ['kind', 'mine'],
      ['order_id', 'o1'],
    ]);
    const event = { ...about, eventType: 'event', kind: 'a "kind"' } as const;
    expect(renderEvent({ ...event, properties })).toMatch(
      /"eventType":"event",.*"data":\{"eventId":"[^"]+","distinctId":"ann","kind":"a \\"kind\\"","orderId":"o1"\}\}$/,
    );
    expect(payload(['kind', 'mine'])).toContain('"kind":"mine"');
  });

  it('has no properties where the event has none', () => {
    expect(payload()).toMatch(/"data":\{"eventId":"[^"]+","distinctId":"ann"\}\}$/);
  });

  it('keeps unicode raw, and escapes what JSON must', () => {
    const text = payload(['text', 'Zoë – 日本 😀 "\\\n\u2028'], ['ключ', 'да']);
    expect(text).toContain('"text":"Zoë – 日本 😀 \\"\\\\\\n\u2028"');
    expect(text).toContain('"ключ":"да"');
  });

  it('has ids as texts, whatever the sender made of them', () => {
    expect(
      dataOf(
        ['message_id', 9_007_199_254_740_992n],
        ['recordingId', 5n],
        ['response_id', 7],
        ['responseId', 'r'],
        ['order_id', 8n],
      ),
    ).toEqual([
      ['messageId', '9007199254740992'],
      ['orderId', 8],
      ['recordingId', '5'],
      ['responseId', 'r'],
      ['response_id', '7'],
    ]);
  });

  it('says of a test that it is one, where no property of a sender can say it', () => {
    const properties = new Map<string, PayloadValue>([['test', true]]);
    const parse = (part: string): unknown => JSON.parse(payloadOf('d1', 'w1', part));
    expect(parse(renderEvent({ ...about, properties, isTest: true }))).toMatchObject({
      test: true,
      data: { test: true },
    });
    expect(parse(renderEvent({ ...about, properties }))).not.toHaveProperty('test');
  });

  it('writes integers beyond 2^53 - 1 as texts', () => {
    expect(
      dataOf(
        ['a', 9_007_199_254_740_991],
        ['b', 9_007_199_254_740_992n],
        ['c', -9_223_372_036_854_775_808n],
        ['d', 1e300],
        ['e', 12n],
      ),
    ).toEqual([
      ['a', 9_007_199_254_740_991],
      ['b', '9007199254740992'],
      ['c', '-9223372036854775808'],
      ['d', 1e300],
      ['e', 12],
    ]);
  });

  it('turns snake_case into camelCase, and leaves other names as they are', () => {
    const names = {
      order_id: 'orderId',
      a_b_c: 'aBC',
      line_2: 'line2',
      _id: '_id',
      a__b: 'a__b',
      trailing_: 'trailing_',
      Order_ID: 'Order_ID',
      __proto__x: '__proto__x',
      'a b_c': 'a bC',
      ü_b: 'ü_b',
    };
    for (const [name, expected] of Object.entries(names)) {
      expect(dataOf([name, 1])).toEqual([[expected, 1]]);
    }
  });

  it('is no object on the way, so that every name is a name', () => {
    const names = ['__proto__', 'constructor', 'toString', '"', '\\', '\u0000', ' ', '1'];
    const text = payload(...names.map((name): [string, number] => [name, 1]));
    for (const name of names) expect(text).toContain(`,${JSON.stringify(name)}:1`);
  });

  it('gives a name to the property that is spelled so, and else to the first by name', () => {
    expect(dataOf(['foo_bar', 1], ['fooBar', 2])).toEqual([
      ['fooBar', 2],
      ['foo_bar', 1],
    ]);
    expect(dataOf(['a_bC', 1], ['aB_c', 2], ['a_b_c', 3])).toEqual([
      ['aBC', 2],
      ['a_bC', 1],
      ['a_b_c', 3],
    ]);
  });

  it('keeps its own names for what they mean', () => {
    expect(
      dataOf(
        ['eventId', 'x'],
        ['event_id', 'y'],
        ['distinct_id', 'z'],
        ['room_id', 'r1'],
        ['roomId', 'r2'],
        ['block_id', 'b1'],
        ['blockId', false],
        ['space_id', ''],
        ['roomType', 5],
      ),
    ).toEqual([
      ['roomId', 'r2'],
      ['blockId', 'b1'],
      ['distinct_id', 'z'],
      ['event_id', 'y'],
      ['room_id', 'r1'],
      ['space_id', ''],
    ]);
  });
});
