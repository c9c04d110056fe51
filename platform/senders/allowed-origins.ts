// The origins whose pages may send with a project's public keys: how a pattern is written, and which origins it covers.
// Which requests are asked for their origin is ingest's.

export const maxAllowedOrigins = 50;
export const maxOriginCharacters = 255;

const patternForm = /^(?:([a-z][a-z0-9+.-]{0,31}):\/\/)?(\*\.)?([^\s/?#@\\*]+)$/;
const pageSchemes = ['http', 'https'];
/** The origin of a page that has none, such as one in a sandbox. */
const noOrigin = 'null';

/**
 * The form in which a pattern is kept: `https://example.com`, `example.com:8080` for http and https, `*.example.com`
 * for each name below it, `null`. Undefined where the text is none.
 */
export function originPattern(text: string): string | undefined {
  const pattern = text.trim().toLowerCase().replace(/\/$/, '');
  if (pattern === noOrigin) return pattern;
  const parts = partsOf(pattern);
  if (parts === undefined) return undefined;
  const { schemes, below, host, scheme } = parts;
  const [first] = schemes.flatMap((name) => originOf(name, below, host) ?? []);
  if (first === undefined) return undefined;
  return scheme === undefined ? first.slice(first.indexOf('://') + '://'.length) : first;
}

/** Whether an origin, as a browser writes it, is one of the patterns'. Looks up each name above the origin's once. */
export function originTest(patterns: readonly string[]): (origin: string) => boolean {
  const allowed = new Set(patterns.flatMap(originsOf));
  return (origin) => {
    if (allowed.has(origin)) return true;
    const host = origin.indexOf('://') + '://'.length;
    for (let dot = origin.indexOf('.', host); dot >= 0; dot = origin.indexOf('.', dot + 1)) {
      if (allowed.has(`${origin.slice(0, host)}*${origin.slice(dot)}`)) return true;
    }
    return false;
  };
}

function originsOf(pattern: string): string[] {
  if (pattern === noOrigin) return [pattern];
  const parts = partsOf(pattern);
  if (parts === undefined) return [];
  return parts.schemes.flatMap((name) => originOf(name, parts.below, parts.host) ?? []);
}

function partsOf(pattern: string) {
  const [, scheme, below = '', host] = patternForm.exec(pattern) ?? [];
  if (host === undefined) return undefined;
  return { scheme, below, host, schemes: scheme === undefined ? pageSchemes : [scheme] };
}

/** As a browser writes it: names in ASCII, without the scheme's own port. */
function originOf(scheme: string, below: string, host: string): string | undefined {
  try {
    const url = new URL(`${scheme}://${host}`);
    return url.host === '' ? undefined : `${scheme}://${below}${url.host}`;
  } catch {
    return undefined;
  }
}
