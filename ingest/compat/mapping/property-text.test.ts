// What names and values remember of earlier events changes no text: each event is written as a plain list of its
// properties says, whatever was written before it or meanwhile.

import { describe, expect, it } from 'vitest';
import { cutTo, PropertyText, quoted } from './property-text.ts';

const key = (name: string): string => (name === '' ? '_' : cutTo(name, 255));
const addresses = ['ip', '$ip', 'ip_address', 'ipAddress'];

/** The same in the plainest way, for values that need no cut. */
function plainText(puts: readonly (readonly [name: string, value: unknown])[]): string {
  const held = new Map<string, string>();
  const cut: string[] = [];
  for (const [name, value] of puts) {
    if (value === null || addresses.includes(name)) continue;
    if (key(name) !== name) cut.push(key(name));
    if (held.has(key(name))) continue;
    held.set(key(name), valueText(value));
  }
  if (cut.length > 0 && !held.has('$cut'))
    held.set('$cut', valueText(cutTo(cut.join(', '), 1_024)));
  const members = (isAuto: boolean): string =>
    [...held]
      .filter(([name]) => name.startsWith('$') === isAuto)
      .map(([name, text]) => `${quoted(name)}:${text}`)
      .join(',');
  return `"autoProperties":{${members(true)}},"customProperties":{${members(false)}}`;
}

function valueText(value: unknown): string {
  if (typeof value === 'string') {
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)
      ? `{"timestampValue":"${value}"}`
      : `{"stringValue":${quoted(value)}}`;
  }
  if (typeof value === 'boolean') return `{"boolValue":${value}}`;
  if (Number.isSafeInteger(value)) return `{"intValue":"${value}"}`;
  return `{"doubleValue":${value}}`;
}

const names = ['plan', '$os', '', '_', 'ip', '$url', 'é"', `long${'x'.repeat(300)}`, '$cut', 'a'];
const values = [
  ...['pro', 'orp', 'free', '', 'x'.repeat(64), 'x'.repeat(65), '"quoted"', 'ü', '\ud800'],
  ...['2026-03-04T09:15:00.123Z', '2026-03-04T09:15:00.123+', '1', 'true'],
  ...[1, 0, -0, 1.5, -1, 9, 2 ** 53, true, false, null],
];

describe('properties', () => {
  it('of events that are written in turns are those of each', () => {
    let seed = 7;
    const one = <Item>(items: readonly Item[]): Item | undefined => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return items[(seed >>> 8) % items.length];
    };
    // More names than are remembered come between some of them.
    const flood = (round: number): void => {
      const other = new PropertyText();
      for (let n = 0; n < 1_100; n++) other.put(`flood-${round}-${n}`, n);
    };
    for (let round = 0; round < 400; round++) {
      const events = Array.from({ length: 3 }, () => ({
        text: new PropertyText(),
        puts: [] as [string, unknown][],
      }));
      for (let put = 0; put < 40; put++) {
        const event = one(events);
        const [name = '', value = null] = [one(names), one(values)];
        event?.text.put(name, value);
        event?.puts.push([name, value]);
        if (round % 40 === 0 && put % 10 === 0) flood(round * 100 + put);
      }
      for (const { text, puts } of events) expect(text.text(undefined)).toBe(plainText(puts));
    }
  });

  it('keep their room, and their own name where the sender has one', () => {
    const text = new PropertyText();
    for (let n = 0; n < 300; n++) text.put(`n${n}`, n);
    text.put('$name', 'sent');
    const other = new PropertyText();
    other.put('$name', 'another');
    const parsed = JSON.parse(`{${text.text('own')}}`);
    expect(Object.keys(parsed.customProperties)).toHaveLength(256);
    expect(parsed.autoProperties.$name).toEqual({ stringValue: 'sent' });
    expect(parsed.autoProperties.$cut.stringValue).toContain('n256, n257');
    expect(text.text('own')).toBe(text.text('own'));
    other.put('$name', 'again');
    expect(JSON.parse(`{${other.text('own')}}`).autoProperties).toEqual({
      $name: { stringValue: 'another' },
    });
  });
});
