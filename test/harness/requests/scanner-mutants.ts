// Makes bodies for tests that compare the scanner with the reference path: valid bodies, bodies that break any rule,
// and both with a few bytes changed. The same seed makes the same bodies. Knows no verdicts.

import { wellKnownKinds } from '../../../proto/wire/well-known-kinds.ts';

const uuid = '0190a5e0-7c3e-7000-8000-00000000abCD';
const minimalEvent = JSON.stringify({
  eventId: uuid,
  kind: 'a',
  distinctId: 'd',
  sessionId: uuid,
  occurTime: '2026-11-20T11:59:59Z',
});

/** Texts at the bound of some rule, or one beyond it. */
const texts = [
  ...['', 'a', 'EUR', 'eur', 'line\nbreak', '"q"', '\\', '\u0000', '\ud800', '日本'],
  ...['x'.repeat(1024), 'x'.repeat(1025), '😀'.repeat(1024), '😀'.repeat(1025)],
  ...['é'.repeat(1024), 'é\n'.repeat(512), 'k'.repeat(200), 'k'.repeat(201), 'é'.repeat(100)],
  ...['é'.repeat(201), 'd'.repeat(512), 'd'.repeat(513), '😀'.repeat(512)],
  ...['cookieless-x', 'svc.x', '0', '12', '-0', '1e3', '01', '+1', ' 1', '1.5', '1e999', 'NaN'],
  ...['-', '1.', '.5', '9223372036854775807', '9223372036854775808'],
  ...['-9223372036854775808', '-9223372036854775809'],
  ...['2026-02-30T00:00:00Z', '2026-11-20T11:59:59Z', '2026-11-20T11:59:59.123456789+05:30'],
  ...['2026-11-20t11:59:59z', '2024-02-29T23:59:60Z', '0001-01-01T00:00:00+00:01'],
  ...['9999-12-31T23:59:59.999999999-00:01', '1999-12-31T23:59:59Z', '2000-01-01T00:00:00Z'],
  ...['2026-11-22T12:00:00Z', '2026-11-22T12:00:00.001Z', '2026-11-20T11:59:59.1234567890Z'],
  ...['2026-11-20T24:00:00Z', '2100-02-29T00:00:00Z'],
  ...[uuid, uuid.toUpperCase(), uuid.slice(1), uuid.replace('-', 'x'), `${uuid}a`],
];

/** Moments around the bounds of days, for a receipt at noon or midnight of 2026-11-20. */
const momentsOfDays = [
  ...['2026-11-20T11:59:59.123Z', '2026-11-20T00:30:00.000Z', '2026-11-20T00:30:00.001Z'],
  ...['2026-11-20T00:00:00Z', '2026-11-19T23:59:59.999999999Z', '2026-11-19T23:30:00.000Z'],
  ...['2026-11-19T23:29:59.999Z', '2026-11-19T00:30:00Z', '2026-11-19T00:00:00.000Z'],
  ...['2026-11-19T02:00:00+02:00', '2026-11-18T23:59:59.999Z', '2026-11-18T23:30:00Z'],
  ...['2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00.000Z', '2026-11-20T19:30:00-05:00'],
  ...['2026-11-21T11:00:00Z', '2025-11-20T11:00:00Z', '2000-01-01T00:00:00Z'],
  ...['2026-10-21T12:00:00.000Z', '2026-10-21T11:59:59.999Z', '2026-10-20T23:59:59.999999Z'],
];

/** JSON of all sorts, and texts that are no JSON. */
const raws = [
  ...['0', '-0', '1', '1.0', '1.5', '1e3', '1E+2', '9007199254740991', '9007199254740992'],
  ...['9007199254740993', '9007199254740991.4', '-9007199254740991', '1e400', '-1e400'],
  ...['1.7976931348623157e308', '1.7976931348623159e308', '0e99999999999', '0.1234567890123456789'],
  ...[`17976931348623157${'0'.repeat(292)}`, `9${'9'.repeat(310)}`, `0.${'0'.repeat(400)}1`],
  ...['true', 'false', 'null', '{}', '[]', '[1,2,{"a":[]}]', '{"a":1,"a":2}', '{"$ip":"1.2.3.4"}'],
  ...['{"x":{"$ip":[1]}}', '"\\u0024ip"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\udc00\\ud800"'],
  ...['tru', 'nul', '01', '1.', '-', '+1', '"\\x"', '"\\u12g4"', '"a\tb"', '[1,]', '{"a":}', '{,}'],
  ...[95, 96, 97, 98, 200].map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  `${'{"k":'.repeat(97)}1${'}'.repeat(97)}`,
];

const autoKeys = ['$url', '$browser', '$ip', '$bot_score', '$x', '$1', `$${'y'.repeat(255)}`];
const customKeys = [
  ...['plan', 'count', '1', '10', '2', '01', '4294967294', '4294967295', '__proto__', 'toString'],
  ...['a.b', 'é', '😀'.repeat(255), '😀'.repeat(256), 'k'.repeat(255), 'k'.repeat(256), '', '$'],
];
const knownKinds = [...wellKnownKinds.keys()];
const valuesOfVariants: Readonly<Record<string, readonly string[]>> = {
  stringValue: ['"a"', '"EUR"', '""'],
  intValue: ['"5"', '"0"', '7'],
  doubleValue: ['1.5', '12', '-0.25', '1e3', '"3.5"'],
  boolValue: ['true', 'false'],
  timestampValue: ['"2026-01-02T03:04:05.678Z"'],
};

/** Makes bodies, one after the other, from a seed. */
export class Mutants {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b9) | 1;
  }

  /** A whole body, valid about one time in three. */
  body(): Buffer {
    const many = this.#one(200);
    const events = many
      ? new Array<string>(999 + this.#below(3)).fill(minimalEvent)
      : this.#times(this.#below(4), () => this.#event());
    const list = this.#one(200) ? this.#pick(raws) : `[${this.#join(events)}]`;
    const members = [`${this.#name('events')}:${this.#space()}${list}`];
    if (this.#one(20)) members.push(`"x":${this.#pick(raws)}`);
    if (this.#one(20)) members.unshift(`"y":${this.#pick(raws)}`);
    return Buffer.from(`${this.#space()}{${this.#join(members)}}${this.#space()}`);
  }

  /** `body` with one to three places changed, cut out, put in, repeated, or cut off. */
  mutate(body: Buffer): Buffer {
    let bytes = Buffer.from(body);
    for (let change = this.#below(3); change >= 0; change--) {
      const at = this.#below(bytes.length + 1);
      const rest = bytes.subarray(at);
      const byte = this.#pick([
        0, 10, 32, 34, 44, 48, 58, 91, 92, 93, 101, 117, 123, 125, 194, 255,
      ]);
      const middle = [
        [rest.subarray(1)],
        [Buffer.of(byte), rest],
        [Buffer.of(byte), rest.subarray(1)],
        [Buffer.of((rest[0] ?? 0) ^ (1 << this.#below(8))), rest.subarray(1)],
        [rest.subarray(0, this.#below(40)), rest],
        [],
      ][this.#below(6)];
      bytes = Buffer.concat([bytes.subarray(0, at), ...(middle ?? [])]);
    }
    return bytes;
  }

  #event(): string {
    if (this.#one(300)) return this.#pick(raws);
    const kind = this.#one(3) ? 'page_view' : this.#pick(knownKinds);
    const isCookieless = this.#one(6);
    const members = [
      ...this.#member('eventId', 'event_id', this.#text(uuid)),
      ...this.#member('kind', 'kind', this.#text(kind)),
      ...this.#member('occurTime', 'occur_time', JSON.stringify(this.#pick(momentsOfDays))),
    ];
    if (!isCookieless || this.#one(20)) {
      members.push(...this.#member('distinctId', 'distinct_id', this.#text('user')));
      members.push(...this.#member('sessionId', 'session_id', this.#text(uuid)));
    }
    if (isCookieless) members.push(...this.#member('cookieless', 'cookieless', 'true'));
    if (!this.#one(2))
      members.push(...this.#member('autoProperties', 'auto_properties', this.#map(autoKeys)));
    if (!this.#one(4)) {
      const known = this.#known(kind);
      const map = this.#map(customKeys, known);
      members.push(...this.#member('customProperties', 'custom_properties', map));
    }
    if (this.#one(15)) members.push(`"extra${this.#below(2)}":${this.#pick(raws)}`);
    if (this.#one(25)) members.push(`"$ip":${this.#pick(raws)}`);
    if (this.#one(3)) members.reverse();
    return `{${this.#join(members)}}`;
  }

  /** A member in either spelling. Sometimes it is missing, has another value, or is given twice. */
  #member(camel: string, snake: string, value: string): string[] {
    if (this.#one(120)) return [];
    const spelled = (): string => this.#name(this.#one(4) ? snake : camel);
    const sent = this.#one(60)
      ? this.#pick([...raws, ...texts.map((text) => this.#text(text))])
      : value;
    const members = [`${spelled()}${this.#space()}:${this.#space()}${sent}`];
    if (this.#one(150)) members.push(`${spelled()}:${this.#one(3) ? 'null' : value}`);
    return members;
  }

  /** Most of the properties that a well-known kind lists. */
  #known(kind: string): string[] {
    const properties = wellKnownKinds.get(kind) ?? [];
    return properties.flatMap(({ snakeName, camelName }) => {
      if (this.#one(8)) return [];
      const name = this.#name(this.#one(3) ? camelName : snakeName);
      return [`${name}:${this.#one(3) ? this.#property() : '{"stringValue":"EUR"}'}`];
    });
  }

  #map(keys: readonly string[], members: string[] = []): string {
    const isLong = this.#one(60);
    const count = isLong ? 250 + this.#below(12) : this.#below(5);
    const first = keys[0] ?? '';
    for (let index = 0; index < count; index++) {
      const key = isLong || !this.#one(5) ? `${first}${index}` : this.#pick(keys);
      const name = this.#one(100) ? this.#pick(['', '$', `${index}`]) : key;
      members.push(`${this.#name(name)}${this.#space()}:${this.#property()}`);
    }
    return `{${this.#join(members)}}`;
  }

  #property(): string {
    if (this.#one(60)) return this.#pick([...raws, '{}']);
    const camel = this.#pick(Object.keys(valuesOfVariants));
    const name = this.#one(3) ? camel.replace('Value', '_value') : camel;
    const odd = this.#one(20);
    const value = odd
      ? this.#pick([...raws, ...texts.map((text) => this.#text(text))])
      : this.#pick(valuesOfVariants[camel] ?? []);
    const members = [`${this.#name(name)}:${this.#space()}${value}`];
    if (this.#one(30)) members.push(this.#pick(['"boolValue":null', '"int_value":"1"', '"x":{}']));
    if (this.#one(40)) members.push(`"$ip":${this.#pick(raws)}`);
    return `{${this.#join(members)}}`;
  }

  /** JSON of a text, perhaps with one of its characters escaped. */
  #text(text: string): string {
    if (text === '' || !this.#one(8)) return JSON.stringify(text);
    const at = this.#below(text.length);
    const code = text.charCodeAt(at).toString(16).padStart(4, '0');
    const head = JSON.stringify(text.slice(0, at)).slice(0, -1);
    return `${head}\\u${code}${JSON.stringify(text.slice(at + 1)).slice(1)}`;
  }

  #name(name: string): string {
    return this.#one(25) ? this.#text(name) : JSON.stringify(name);
  }

  #space(): string {
    return this.#one(12) ? this.#pick([' ', '\n', '\t \r\n']) : '';
  }

  #join(parts: readonly string[]): string {
    return parts.map((part) => `${this.#space()}${part}${this.#space()}`).join(',');
  }

  #times(count: number, make: () => string): string[] {
    return Array.from({ length: count }, make);
  }

  /** True one time in `chances`. */
  #one(chances: number): boolean {
    return this.#below(chances) === 0;
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[this.#below(from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }

  #below(bound: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % bound;
  }
}
