// The value of a formula, by a stack of values and one of signs that wait: another way than the product's tree.

const ranks: Readonly<Record<string, number>> = { '(': 0, '+': 1, '-': 1, '*': 2, '/': 2, neg: 3 };

function apply(sign: string, values: number[]): void {
  const last = values.pop() ?? Number.NaN;
  if (sign === 'neg') {
    values.push(-last);
    return;
  }
  const one = values.pop() ?? Number.NaN;
  const made: Record<string, number> = {
    '+': one + last,
    '-': one - last,
    '*': one * last,
    '/': last === 0 ? Number.NaN : one / last,
  };
  values.push(made[sign] ?? Number.NaN);
}

/** `series` are the values of A, B, …; undefined where it divides by zero or has no finite number. */
export function formulaValue(expression: string, series: readonly number[]): number | undefined {
  const values: number[] = [];
  const waiting: string[] = [];
  let isAfterValue = false;
  for (const [token] of expression.matchAll(/\d+(\.\d+)?|[A-Z]|[-+*/()]/g)) {
    if (token === '(') waiting.push(token);
    else if (token === ')') {
      for (let top = waiting.pop(); top !== undefined && top !== '('; top = waiting.pop()) {
        apply(top, values);
      }
    } else if (token in ranks) {
      const sign = token === '-' && !isAfterValue ? 'neg' : token;
      const rank = ranks[sign] ?? 0;
      while (sign !== 'neg' && (ranks[waiting.at(-1) ?? '('] ?? 0) >= rank) {
        apply(waiting.pop() ?? '', values);
      }
      waiting.push(sign);
    } else {
      const place = token.charCodeAt(0) - 65;
      values.push(/\d/.test(token) ? Number(token) : (series[place] ?? 0));
    }
    isAfterValue = token === ')' || !(token in ranks);
  }
  for (let top = waiting.pop(); top !== undefined; top = waiting.pop()) apply(top, values);
  const [value = Number.NaN] = values;
  return Number.isFinite(value) ? value : undefined;
}
