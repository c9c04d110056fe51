// Binds values to a statement as parameters, the only form in which a request's value reaches it: the statement's text
// holds placeholders only.

interface BoundValues {
  String: string;
  UUID: string;
  Int64: bigint | number;
  Float64: number;
  'Array(String)': readonly string[];
  'Array(Int64)': readonly bigint[];
  'Array(Float64)': readonly number[];
}

/** The parameters of one statement. */
export interface Bindings {
  /** Returns the placeholder that stands for `value`; it may be written into the text more than once. */
  bind<T extends keyof BoundValues>(type: T, value: BoundValues[T]): string;
  /** From a parameter's name to its value, in the form that the ClickHouse client takes. */
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
