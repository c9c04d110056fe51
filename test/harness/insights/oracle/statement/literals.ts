// Values as DuckDB literals. A quote is the only character that a text doubles.

export function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** A decimal number, exact where an int64 is compared with it. */
export function decimal(value: string): string {
  return Math.abs(Number(value)) < 1e19 && /^-?\d+(\.\d{1,10})?$/.test(value)
    ? `CAST(${text(value)} AS DECIMAL(38, 10))`
    : double(value);
}

export function double(value: string): string {
  return `CAST(${text(value)} AS DOUBLE)`;
}
