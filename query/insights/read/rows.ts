// Reads values of the engine's rows.

/** A Float64: JSON has no infinities, so that the engine writes them, and NaN, as texts. */
export function numberOf(value: unknown): number {
  if (value === 'inf') return Number.POSITIVE_INFINITY;
  if (value === '-inf') return Number.NEGATIVE_INFINITY;
  return Number(value);
}

/** An Array(String). */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
