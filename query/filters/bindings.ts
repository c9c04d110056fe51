// The only way a value gets into a statement: as a bound parameter, whose placeholder is all that the text holds.

interface BoundValues {
  String: string;
  UUID: string;
  Int64: bigint | number;
  Float64: number;
  'Array(String)': readonly string[];
  'Array(Int64)': readonly bigint[];
  'Array(Float64)': readonly number[];
}

/** Adds values to one statement. */
export interface Bindings {
  /** Returns the placeholder that stands for `value`; it may be written into the text more than once. */
  bind<T extends keyof BoundValues>(type: T, value: BoundValues[T]): string;
  /** Parameter name to value, as the ClickHouse client takes them. */
  readonly params: Readonly<Record<string, unknown>>;
}

export function createBindings(): Bindings {
  const params: Record<string, unknown> = {};
  let count = 0;
  return {
    params,
    bind(type, value) {
      const name = `p${count++}`;
      params[name] = value;
      return `{${name}:${type}}`;
    },
  };
}
