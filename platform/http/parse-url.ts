// URLs from outside.

/**
 * Undefined for what is no URL. Not `URL.canParse`: once its caller is hot, Node 20.20's fast call of it reads Latin-1
 * texts as UTF-8 and refuses https://münchen.example.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** A setting: a URL, or several with commas between them, of these protocols; any other text is a problem. */
export function readUrl(
  name: string,
  text: string | undefined,
  protocols: readonly string[],
  problems: string[],
): string | undefined {
  if (text === undefined) return undefined;
  // Every URL of a list: the error of a wrong one would hold it, and the password in it.
  const isUrl = (part: string): boolean => protocols.includes(parseUrl(part)?.protocol ?? '');
  if (text.split(',').every((part) => isUrl(part.trim()))) return text;
  problems.push(`${name} must be a URL that starts with ${protocols.join('// or ')}//`);
  return undefined;
}
