// What a page knows of a question: the last answer, and whose it is. An answer stays while the next one is on its way;
// once that fails, only an answer to the same question is left beside the fault.

/** What an answer lacks. */
export type Missing = {
  /** Until the page asks for it by itself; undefined where it will not. */
  againSeconds: number | undefined;
};

export type ResourceState<T> = {
  /** Names the question that was asked last. */
  key: string | undefined;
  /** `of`: the key of the question that it answers. */
  answer: { of: string; data: T; missing?: Missing | undefined } | undefined;
  error: unknown;
  isDone: boolean;
};

export const nothingAsked = {
  ...{ key: undefined, answer: undefined, error: undefined, isDone: false },
};

/** `kept`: the answer to this key that was kept from before. */
export function asking<T>(
  last: ResourceState<T>,
  key: string,
  kept: T | undefined,
): ResourceState<T> {
  const answer = kept === undefined ? last.answer : { of: key, data: kept };
  return { key, answer, error: undefined, isDone: false };
}

export function answered<T>(key: string, data: T, missing?: Missing | undefined): ResourceState<T> {
  return { key, answer: { of: key, data, missing }, error: undefined, isDone: true };
}

export function failed<T>(
  { answer }: ResourceState<T>,
  key: string,
  error: unknown,
): ResourceState<T> {
  return { key, answer: answer?.of === key ? answer : undefined, error, isDone: true };
}
