// The names of an answer's columns, of which a statement may give two the same.

/** Each with its type; no two have the same name. */
export function distinctNames(
  columns: readonly { name: string; type: string }[],
): { name: string; type: string }[] {
  const seen = new Map<string, number>();
  return columns.map(({ name, type }) => {
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return { name: before === 0 ? name : `${name} (${before + 1})`, type };
  });
}
