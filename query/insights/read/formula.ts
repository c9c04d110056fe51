// Formulas over the series of a question: A is the first. Each is read once, within bounds, into a tree that is worked
// out for each bucket. Errors name the character.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { hasMoreCodePoints } from '../../../platform/limits.ts';
import type { InsightQuerySpec } from '../../../proto/gen/shared/insights/v1/insights_pb.js';

export const maxFormulas = 10;
const maxFormulaCharacters = 200;
const maxNameCodePoints = 150;
/** Parentheses and signs within one another. */
const maxDepth = 20;
const firstLetter = 'A'.charCodeAt(0);

/** The value of a formula over those of the series; undefined where it has none. */
export type Formula = (values: readonly number[]) => number | undefined;

/** Throws invalid_argument that names the formula, and the character where it cannot be read. */
export function readFormulas({ formulas, events }: InsightQuerySpec): Formula[] {
  return formulas.map(({ expression, displayName }, index) => {
    const path = `spec.formulas[${index}]`;
    if (hasMoreCodePoints(displayName, maxNameCodePoints)) {
      throw invalidArgument(
        `${path}.displayName`,
        `takes at most ${maxNameCodePoints} code points`,
      );
    }
    if (expression.length > maxFormulaCharacters) {
      const rule = `takes at most ${maxFormulaCharacters} characters`;
      throw invalidArgument(`${path}.expression`, rule);
    }
    const value = new Reader(expression, events.length, `${path}.expression`).read();
    return (values) => {
      const found = value(values);
      return Number.isFinite(found) ? found + 0 : undefined;
    };
  });
}

/** Infinite or not a number where a part of it divides by zero. */
type Evaluate = (values: readonly number[]) => number;

const operators: Readonly<Record<string, (one: Evaluate, other: Evaluate) => Evaluate>> = {
  '+': (one, other) => (values) => one(values) + other(values),
  '-': (one, other) => (values) => one(values) - other(values),
  '*': (one, other) => (values) => one(values) * other(values),
  // Not infinite: that divides to 0 again.
  '/': (one, other) => (values) => {
    const divisor = other(values);
    return divisor === 0 ? Number.NaN : one(values) / divisor;
  },
};

class Reader {
  readonly #text: string;
  readonly #series: number;
  readonly #field: string;
  #at = 0;

  constructor(text: string, series: number, field: string) {
    this.#text = text;
    this.#series = series;
    this.#field = field;
  }

  read(): Evaluate {
    const value = this.#chain('+-', 0);
    if (this.#next() !== '') this.#fail(`"${this.#next()}" is not expected`);
    return value;
  }

  /** Terms by + and -, or factors by * and /: from left to right. */
  #chain(signs: '+-' | '*/', depth: number): Evaluate {
    const part = (): Evaluate => (signs === '+-' ? this.#chain('*/', depth) : this.#factor(depth));
    let value = part();
    for (let sign = this.#next(); sign !== '' && signs.includes(sign); sign = this.#next()) {
      this.#at++;
      value = operators[sign]?.(value, part()) ?? value;
    }
    return value;
  }

  #factor(depth: number): Evaluate {
    const start = this.#next();
    if (depth > maxDepth) this.#fail(`goes deeper than ${maxDepth}`);
    if (start === '-') {
      this.#at++;
      const value = this.#factor(depth + 1);
      return (values) => -value(values);
    }
    if (start === '(') {
      this.#at++;
      const value = this.#chain('+-', depth + 1);
      if (this.#next() !== ')') this.#fail('")" is missing');
      this.#at++;
      return value;
    }
    return start >= 'A' && start <= 'Z' ? this.#letter(start) : this.#number();
  }

  #letter(letter: string): Evaluate {
    const place = letter.charCodeAt(0) - firstLetter;
    if (place >= this.#series) this.#fail(`there is no series ${letter}`);
    this.#at++;
    return (values) => values[place] ?? 0;
  }

  #number(): Evaluate {
    const digits = /\d+(\.\d+)?/y;
    digits.lastIndex = this.#at;
    const [text] = digits.exec(this.#text) ?? [];
    if (text === undefined) this.#fail('a series, a number or "(" is expected');
    const number = Number(text);
    if (!Number.isFinite(number)) this.#fail('the number is too large');
    this.#at += text.length;
    return () => number;
  }

  /** The character after spaces; empty at the end. */
  #next(): string {
    while (this.#text[this.#at] === ' ') this.#at++;
    return this.#text[this.#at] ?? '';
  }

  #fail(rule: string): never {
    throw invalidArgument(this.#field, `at character ${this.#at + 1}: ${rule}`);
  }
}
