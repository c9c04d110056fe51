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
