// Rules on callers' texts take time that grows with the text and no faster: each runs on the inputs that make
// backtracking expressions and normalization slow, beside one pass over the same text.

import { ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import * as fieldRules from '../control/request-fields.ts';
import { checkText } from '../ingest/validation/text/request-text.ts';
import { embedOrigin } from '../platform/dashboards/embed-origins.ts';
import { parseDecimal } from '../platform/filters/numeric-range.ts';
import { readCanonicalText, typesThatCanHold } from '../query/filters/canonical-text.ts';

/** A body of a control method can hold as many. */
const length = 65_536;
const run = (text: string, end = ''): string => text.repeat(length / text.length) + end;

const texts: Record<string, string> = {
  'combining marks of two classes': `a${run('\u0301').slice(length / 2)}${run('\u0323').slice(length / 2)}@x.org`,
  'spaces and no end': `a${run(' ', 'b')}`,
  'spaces and an address': run(' ', '<a@x.org>'),
  'spaces before a bracket': `a${run(' ')}>`,
  'opening brackets': run('<', '>'),
  'pairs of brackets': run('<>'),
  'signs of an address': run('@'),
  'letters and dots': run('a.'),
  'names and slashes': run('A/', '!'),
  'pairs of surrogates': run('😀'),
  'zeros within a number': `1${run('0', '1')}`,
  'zeros and an exponent': `1${run('0')}e-${length}`,
  'signs of numbers': run('-+', '.'),
};

const rules: Record<string, (text: string) => unknown> = {
  ...Object.fromEntries(
    Object.entries(fieldRules).flatMap(([name, rule]) =>
      typeof rule === 'function' && name.endsWith('Field')
        ? [[name, (text: string) => Reflect.apply(rule, undefined, ['field', text])]]
        : [],
    ),
  ),
  embedOrigin,
  parseDecimal,
  readCanonicalText,
  typesThatCanHold,
  'whole numbers of events': (text) =>
    checkText(`{"events":[{"autoProperties":{"n":{"intValue":${text}}}}]}`, 'typed'),
};

/** CPU milliseconds of one call. Short work is repeated until it can be told. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  for (let calls = 1; ; calls++) {
    try {
      work();
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
    }
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= leastMs) return ms / calls;
  }
}

/**
 * The least of the measurements until one is below `enoughMs`. Neighbours, a collection of garbage and a compiler's
 * thread add to a measurement and never take from it: work that grows too fast is above in every one.
 */
function leastCpuMs(work: () => unknown, enoughMs: number): number {
  let least = Infinity;
  let spentMs = 0;
  for (let run = 0; least >= enoughMs && (run < leastRuns || spentMs < maxSpentMs); run++) {
    const ms = cpuMs(work);
    least = Math.min(least, ms);
    spentMs += ms;
  }
  return least;
}

function onePass(text: string): number {
  let sum = 0;
  for (const character of text) sum += character.length;
  return sum;
}

/** The kernel counts a process's time in microseconds. */
const leastMs = 1;
// Quadratic work on so many characters takes more than a thousand passes.
const maxPasses = 100;
const leastRuns = 3;
const maxSpentMs = 500;

const passesMs = new Map(
  Object.values(texts).map((text) => {
    const runs = Array.from({ length: leastRuns }, () => cpuMs(() => onePass(text)));
    return [text, Math.min(...runs)];
  }),
);

it.each(Object.entries(rules))('%s', (_, rule) => {
  for (const [name, text] of Object.entries(texts)) {
    const passMs = passesMs.get(text) ?? 0;
    const ms = leastCpuMs(() => rule(text), passMs * maxPasses);
    expect(ms / passMs, name).toBeLessThan(maxPasses);
  }
});
