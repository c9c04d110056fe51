// Money in the project's currency comes before money in others, which keep the order of the answer.

/** `own`: the project's currency. The same list where it has none, or no series is in it. */
export function ownCurrencyFirst<T extends { currency?: string | undefined }>(
  series: readonly T[],
  own: string | undefined,
): readonly T[] {
  const isOwn = ({ currency }: T): boolean => currency === own;
  if (!own || !series.some(isOwn)) return series;
  return [...series.filter(isOwn), ...series.filter((one) => !isOwn(one))];
}
