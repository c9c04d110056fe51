// Where two answers differ, to the last digit.

/** The path of the first difference with both values; undefined where the answers are the same. */
export function difference(expected: unknown, got: unknown, path = ''): string | undefined {
  if (typeof expected === 'number' && typeof got === 'number') {
    return isSameNumber(expected, got, path)
      ? undefined
      : `${path}: expected ${expected}, got ${got}`;
  }
  if (Array.isArray(expected) && Array.isArray(got) && expected.length !== got.length) {
    return `${path}: expected ${expected.length} items, got ${got.length}`;
  }
  if (isRecord(expected) && isRecord(got)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(got)]);
    for (const key of keys) {
      const found = difference(expected[key], got[key], `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return expected === got
    ? undefined
    : `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
}

/** Milliseconds of a mean: durations have whole nanoseconds. */
const durationToleranceMs = 1e-6;

function isSameNumber(expected: number, got: number, path: string): boolean {
  if (path.endsWith('.avg') && Math.abs(expected - got) <= durationToleranceMs) return true;
  return expected === got;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
