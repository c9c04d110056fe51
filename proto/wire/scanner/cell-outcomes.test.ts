import { beforeEach, describe, expect, it } from 'vitest';
import { autoColumns } from '../../../platform/clickhouse/event-columns.ts';
import * as limits from '../../../platform/limits.ts';
import { wellKnownKinds } from '../well-known-kinds.ts';
import { ColumnScanner } from './column-scanner.ts';

const now = Date.UTC(2026, 10, 20, 12);
const properties = [
  ...autoColumns.map(({ property }) => property),
  ...['$latitude', '$longitude', '$mobile', '$bot', '$bot_score', '$verified_bot', '$ip'],
];
const slotOf = (property: string): number => properties.indexOf(property);
const names = ['$url', '$referrer', '$utmSource', '$utmMedium', '$utmCampaign'];
const [channel, city] = [slotOf('$channel'), slotOf('$city')];
const scanner = new ColumnScanner({
  ...{ limits, wellKnown: wellKnownKinds, properties, textsRead: names.map(slotOf) },
  ...{ maxRows: 12_000, maxBytes: 8 << 20 },
});
const { outcomes } = scanner;

beforeEach(() => scanner.clear());

/** Adds a row for each list of auto properties. */
function append(rows: readonly Record<string, string>[]): void {
  const uuid = '0190a5e0-7c3e-7000-8000-00000000abcd';
  const minimal = { eventId: uuid, kind: 'a', distinctId: 'd', sessionId: uuid };
  for (let from = 0; from < rows.length; from += 1_000) {
    const events = rows.slice(from, from + 1_000).map((row) => ({
      ...{ ...minimal, occurTime: '2026-11-20T11:59:59Z' },
      autoProperties: Object.fromEntries(
        Object.entries(row).map(([name, stringValue]) => [name, { stringValue }]),
      ),
    }));
    const { kind } = scanner.append(Buffer.from(JSON.stringify({ events })), now);
    if (kind !== 'appended') throw new Error(kind);
  }
}

const textAt = (slot: number, row: number): string =>
  scanner.textOf(scanner.views.texts[slot]?.[row] ?? 0);
const textsOf = (slot: number): string[] =>
  Array.from({ length: scanner.rows }, (_, row) => textAt(slot, row));
/** The outcome that writes these texts. */
const outcomeOf = (texts: readonly (readonly [number, string])[]): number => {
  const bySlot = [...texts].sort(([a], [b]) => a - b);
  const bits = bySlot.reduce((sum, [slot]) => sum | (1 << slot), 0);
  return (
    outcomes.add(
      bits,
      bySlot.map(([slot, text]) => scanner.cellOf(slot, text) ?? 0),
    ) ?? 0
  );
};

describe('an outcome', () => {
  it('is computed once for all rows with the same texts', () => {
    append([{ $url: 'a' }, { $url: 'b' }, { $url: 'a' }, { $url: 'a', $referrer: 'b' }]);
    expect(outcomes.putByRow(0, 4, 1)).toBe(0);
    outcomes.learnByRow(0, 1, outcomeOf([[channel, 'A']]));
    expect(outcomes.putByRow(0, 4, 1)).toBe(1);
    outcomes.learnByRow(1, 1, outcomeOf([]));
    expect(outcomes.putByRow(1, 4, 1)).toBe(3);
    expect(textsOf(channel)).toEqual(['A', '', 'A', '']);
    expect(outcomes.putByRow(0, 4, 0)).toBe(0);
    expect(outcomes.slotsPut & (1 << channel)).not.toBe(0);
    expect(outcomes.slotsPut & (1 << city)).toBe(0);
  });

  it('is computed again where a row has a property of another type', () => {
    append([{ $url: 'a' }, { $url: 'a', $city: '' }]);
    outcomes.learnByRow(0, 1, outcomeOf([[channel, 'A']]));
    expect(outcomes.putByRow(0, 2, 1)).toBe(1);
  });

  it('is computed separately for each sender', () => {
    append([{ $url: 'a' }, {}, {}, { $url: 'b' }]);
    expect(outcomes.putBySender(0, 4, 7)).toBe(0);
    outcomes.learnBySender(0, 7, outcomeOf([[city, 'Kraków']]));
    expect(outcomes.putBySender(0, 4, 7)).toBe(1);
    expect(outcomes.putBySender(1, 4, 7)).toBe(1);
    outcomes.learnBySender(
      1,
      7,
      outcomeOf([
        [channel, 'x'],
        [city, 'Łódź'],
      ]),
    );
    expect(outcomes.putBySender(1, 4, 7)).toBe(4);
    expect(textsOf(city)).toEqual(['Kraków', 'Łódź', 'Łódź', 'Kraków']);
    expect(textsOf(channel)).toEqual(['', 'x', 'x', '']);
    expect(outcomes.putBySender(0, 4, 8)).toBe(0);
  });

  it('is forgotten with the texts', () => {
    append([{}]);
    outcomes.learnByRow(0, 1, outcomeOf([[city, 'Kraków']]));
    outcomes.learnBySender(0, 1, outcomeOf([[city, 'Kraków']]));
    scanner.clear();
    append([{}]);
    expect(outcomes.putByRow(0, 1, 1)).toBe(0);
    expect(outcomes.putBySender(0, 1, 1)).toBe(0);
    expect(outcomes.slotsPut).toBe(0);
  });

  it.each(names)('differs for thousands of %s', (property) => {
    append(Array.from({ length: 10_000 }, (_, row) => ({ [property]: `${row % 6_000}` })));
    let asked = 0;
    let row = outcomes.putByRow(0, 10_000, 1);
    while (row < 10_000) {
      asked++;
      const outcome = outcomeOf([[channel, `c${textAt(slotOf(property), row)}`]]);
      expect(outcomes.learnByRow(row, 1, outcome)).toBe(true);
      row = outcomes.putByRow(row, 10_000, 1);
    }
    expect(asked).toBe(6_000);
    expect(textsOf(channel)).toEqual(Array.from({ length: 10_000 }, (_, at) => `c${at % 6_000}`));
  });

  it('differs for thousands of senders', () => {
    append([{}]);
    for (let sender = 0; sender < 6_000; sender++) {
      expect(outcomes.putBySender(0, 1, sender)).toBe(0);
      outcomes.learnBySender(0, sender, outcomeOf([[city, `c${sender}`]]));
    }
    outcomes.putBySender(0, 1, 1_234);
    expect(textAt(city, 0)).toBe('c1234');
  });

  it('is not taken where there is no room for more', () => {
    append([{}]);
    let added = 0;
    while (outcomes.add(-1 >>> 10, new Array(22).fill(0)) !== undefined) added++;
    while (outcomes.add(0, []) !== undefined) added++;
    expect(outcomes.areMany).toBe(true);
    expect(added).toBeGreaterThan(40_000);
    expect(outcomes.learnByRow(0, 1, 0)).toBe(false);
    outcomes.forget();
    expect(outcomes.areMany).toBe(false);
    expect(outcomes.learnByRow(0, 1, outcomeOf([]))).toBe(true);
  });
});
