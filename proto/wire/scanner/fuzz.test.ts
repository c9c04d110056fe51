// The scanner beside the reference path of checks, on bodies of every kind, and its memory.
// Takes some 25 seconds.

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newTally } from '../../../ingest/validation/event-fields.ts';
import { checkRequest } from '../../../ingest/validation/event-rules.ts';
import { checkText } from '../../../ingest/validation/text/request-text.ts';
import { dayMs } from '../../../platform/clock.ts';
import { isObject } from '../../../platform/json.ts';
import { jsonFault, jsonFaultAt } from '../../../platform/json-fault.ts';
import * as limits from '../../../platform/limits.ts';
import { Mutants } from '../../../test/harness/requests/scanner-mutants.ts';
import { wideBody } from '../../../test/harness/requests/wide-body.ts';
import { hasTestData, testData } from '../../../test/harness/test-data.ts';
import { wellKnownKinds } from '../well-known-kinds.ts';
import { bodyBase, wellKnownTable } from './assembly/layout.ts';
import { instantiateScanner } from './module.ts';
import { createScanner } from './scanner.ts';

const now = Date.UTC(2026, 10, 20, 12);
/** Noon, the first millisecond of that day, and the last of the day before. */
const receiveTimes = [now, now, Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 20) - 1];
/** What the senders' clocks are off by: mostly nothing. */
const shifts = [0, 0, 0, 61_000, -86_400_001, 946_684_800_000];
const maxAgeMs = 30 * dayMs;
const scanner = createScanner(limits, wellKnownKinds);
/** `MILLRACE_FUZZ_SECONDS=600 npx vitest run proto/wire/scanner/fuzz.test.ts` tries millions of bodies. */
const seconds = Number(process.env['MILLRACE_FUZZ_SECONDS'] ?? 20);
const seed = Number(process.env['MILLRACE_FUZZ_SEED'] ?? 1);

/** The verdict of the reference path. Faults that only the text shows come first. */
function reference(body: Buffer, receiveTimeMs: number, timeShiftMs: number): object {
  const whole = (rule: string): object => ({ index: -1, field: 'body', rule });
  if (!isUtf8(body)) return whole('body_utf8');
  const text = body.toString('utf8');
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch {
    return whole('body_json');
  }
  const tally = newTally();
  const broken = checkRequest(request, receiveTimeMs, tally, { maxAgeMs, timeShiftMs });
  const ofText = checkText(text, 'typed');
  if (ofText !== undefined) return { ...ofText, ...toldKind(request, ofText.index) };
  if (broken === undefined) return { ...tally };
  const { eventKind, ...violation } = broken;
  const told = toldKind(request, broken.index);
  expect(eventKind).toBe(told.eventKind);
  // The detail of a moment is ingest's.
  if (broken.rule === 'occur_time_too_old') delete violation.detail;
  return { ...violation, ...told };
}

/** The kind of an event that breaks a rule, where it is a name. */
function toldKind(request: unknown, index: number): { eventKind?: string } {
  const events = isObject(request) ? request['events'] : undefined;
  const event: unknown = Array.isArray(events) ? events[index] : undefined;
  const kind = isObject(event) ? event['kind'] : undefined;
  const isName = typeof kind === 'string' && /^(?!svc\.)[a-zA-Z0-9_.-]{1,200}$/.test(kind);
  return isName ? { eventKind: kind } : {};
}

function scanned(body: Buffer, receiveTimeMs: number, timeShiftMs: number): object {
  const verdict = scanner.validate(body, receiveTimeMs, timeShiftMs, maxAgeMs);
  if (verdict.kind === 'ok') {
    const { kind, ipRanges, hasBotSignal, hasNumericInt, hasStringDouble, ...tally } = verdict;
    return tally;
  }
  const { kind, offset, ...violation } = verdict;
  if (verdict.rule === 'body_json') expect(jsonFaultAt(body, offset)).toBe(jsonFault(body));
  expect(offset).toBeLessThanOrEqual(body.length);
  return violation;
}

function disagreement(body: Buffer, receiveTimeMs = now, shiftMs = 0): string | undefined {
  const want = JSON.stringify(sorted(reference(body, receiveTimeMs, shiftMs)));
  const have = JSON.stringify(sorted(scanned(body, receiveTimeMs, shiftMs)));
  return want === have ? undefined : `${body.toString('base64')}\n want ${want}\n have ${have}`;
}

function sorted(verdict: object): [string, unknown][] {
  return Object.entries(verdict).sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('the scanner and the reference path', () => {
  it(
    `agree on mutants for ${seconds} s: verdict, index, field, rule, counts`,
    () => {
      const mutants = new Mutants(seed);
      const end = performance.now() + seconds * 1_000;
      const found: string[] = [];
      let bodies = 0;
      let valid = 0;
      const counted = new Set<string>();
      while (performance.now() < end && found.length < 5) {
        const body = mutants.body();
        for (const tried of [
          body,
          mutants.mutate(body),
          mutants.mutate(body),
          mutants.mutate(body),
        ]) {
          const receiveTimeMs = receiveTimes[(bodies >> 2) % receiveTimes.length] ?? now;
          const shiftMs = shifts[bodies % shifts.length];
          const difference = disagreement(tried, receiveTimeMs, shiftMs);
          if (difference !== undefined) found.push(difference);
          const verdict = scanner.validate(tried, receiveTimeMs, shiftMs, maxAgeMs);
          if (verdict.kind === 'ok') {
            valid++;
            for (const [name, value] of Object.entries(verdict)) if (value) counted.add(name);
          } else {
            counted.add(verdict.rule);
            if (verdict.eventKind !== undefined) counted.add('eventKind');
          }
          bodies++;
        }
      }
      expect(found).toEqual([]);
      expect(bodies).toBeGreaterThan(2_000);
      expect(valid).toBeGreaterThan(bodies / 100);
      for (const name of ['cookieless', 'cookielessToday', 'cookielessYesterday']) {
        expect(counted).toContain(name);
      }
      for (const name of ['cookielessAtMidnight', 'occur_time_too_old', 'eventKind']) {
        expect(counted).toContain(name);
      }
    },
    (seconds + 60) * 1_000,
  );

  it.runIf(hasTestData)('agree on the cases of JSON test suites, at every place', () => {
    const found: string[] = [];
    const lines = readFileSync(testData('json-parsing.jsonl'), 'utf8').trim().split('\n');
    for (const line of lines) {
      const { bytes, expect: expected, name } = JSON.parse(line);
      const value = Buffer.from(bytes, 'base64');
      const around = (head: string, tail: string): Buffer =>
        Buffer.concat([Buffer.from(head), value, Buffer.from(tail)]);
      for (const body of [
        value,
        around('{"x":', '}'),
        around('{"events":', '}'),
        around('{"events":[', ']}'),
        around('{"events":[{"x":', '}]}'),
      ]) {
        const difference = disagreement(body);
        if (difference !== undefined) found.push(`${name}: ${difference}`);
      }
      const verdict = scanner.validate(around('{"x":', '}'), now);
      if (expected === 'reject' && verdict.kind === 'ok') found.push(`${name}: accepted`);
    }
    expect(found).toEqual([]);
  });
});

describe('the memory of the scanner', () => {
  it('stays unchanged outside the body, for any body', () => {
    const module = instantiateScanner(limits, wellKnownKinds);
    const reserve = module.exported('reserve');
    const scan = module.exported('scan');
    const tables = (): Buffer => Buffer.from(module.memory.buffer, wellKnownTable, 12_000);
    const before = Buffer.from(tables());
    const mutants = new Mutants(seed + 1);
    for (let round = 0; round < 3_000; round++) {
      const body = mutants.mutate(mutants.body());
      reserve(body.length);
      const behind = bodyBase + body.length + 64;
      const memory = new Uint8Array(module.memory.buffer);
      memory.set(body, bodyBase);
      scan(body.length, now, maxAgeMs);
      // Bytes behind the padding must not change the verdict: the module never reads them as part of the body.
      const verdict = new Int32Array(module.memory.buffer).slice(16, 51);
      new Uint8Array(module.memory.buffer).set(body, bodyBase);
      new Uint8Array(module.memory.buffer).fill(round, behind, behind + 4_096);
      scan(body.length, now, maxAgeMs);
      expect(new Int32Array(module.memory.buffer).slice(16, 51)).toEqual(verdict);
    }
    expect(Buffer.compare(tables(), before)).toBe(0);
    expect(module.memory.buffer.byteLength).toBeLessThan(16 << 20);
  });

  it('holds a hostile body of 8 MiB in a bounded multiple of it', () => {
    const deep = Buffer.alloc(8 << 20, '[');
    const open = Buffer.from('{"x":'.repeat(1 << 20));
    expect(scanner.validate(wideBody(800_000), now)).toMatchObject({ kind: 'ok' });
    expect(scanner.validate(deep, now)).toMatchObject({ rule: 'body_json' });
    expect(scanner.validate(open, now)).toMatchObject({ rule: 'body_json' });
  });
});
