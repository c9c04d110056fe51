// An answer in the form in which the oracle's and the product's are compared.

/** What a result does not count, by the reason without its prefix. */
export type LeftOut = Record<string, number>;

/** The content of a result, and what it folds or cuts. */
export interface Part {
  /** Nothing but arrays, plain objects, texts, numbers and booleans: moments are milliseconds, durations too. */
  result: Record<string, unknown>;
  leftOut: LeftOut;
}
