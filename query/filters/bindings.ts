// Binds values to a statement as parameters, the only form in which a request's value reaches it: the statement's text
// holds placeholders only.

interface BoundValues {
  String: string;
  UUID: string;
  Int64: bigint | number;
  UInt64: bigint | number;
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
  /** A copy with the same placeholders, for one of several statements of what is bound so far. */
  fork(): Bindings;
}

/**
 * Equal values share a placeholder: every series of a question has the same list of buckets or days, and parameters
 * travel in a URL, of which a server takes a MiB.
 */
export function createBindings(): Bindings {
  return bindingsOf({}, new Map());
}

function bindingsOf(params: Record<string, unknown>, placeholders: Map<string, string>): Bindings {
  return {
    params,
    fork: () => bindingsOf({ ...params }, new Map(placeholders)),
    bind(type, value) {
      const key = `${type} ${exactText(value)}`;
      const known = placeholders.get(key);
      if (known !== undefined) return known;
      const name = `p${placeholders.size}`;
      const placeholder = `{${name}:${type}}`;
      params[name] = value;
      placeholders.set(key, placeholder);
      return placeholder;
    },
  };
}

/** Different for different values of one type; JSON alone has neither bigints nor -0. */
export function exactText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return numberText(value);
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'number' || typeof one === 'bigint' ? numberText(one) : one,
  );
}

function numberText(value: number | bigint): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
