// The parts of a page's or referrer's address that enrichment reads. Split by hand, because every event carries one or
// two addresses and the URL class costs ten times as much. It takes any text, validates nothing and never throws.

export interface PageUrl {
  /** Lower case, without user, port and a dot at its end; '' for an address without a host. */
  readonly hostname: string;
  /** As written, '/' where the address has none; '' for an address of a kind without paths (mailto:, about:). */
  readonly pathname: string;
  /** Between '?' and '#', without either. */
  readonly query: string;
}

/** Splits an absolute address, one without a scheme's authority (`/path?q`), or anything else. */
export function splitUrl(url: string): PageUrl {
  const hash = url.indexOf('#');
  const end = hash < 0 ? url.length : hash;
  const mark = url.indexOf('?');
  const pathEnd = mark < 0 || mark > end ? end : mark;
  const query = pathEnd < end ? url.slice(pathEnd + 1, end) : '';
  const scheme = url.indexOf('://');
  if (scheme < 1 || scheme > pathEnd) {
    return { hostname: '', pathname: url.startsWith('/') ? url.slice(0, pathEnd) : '', query };
  }
  const from = scheme + 3;
  const slash = url.indexOf('/', from);
  const hostEnd = slash < 0 || slash > pathEnd ? pathEnd : slash;
  return {
    hostname: hostnameOf(url.slice(from, hostEnd)),
    pathname: hostEnd < pathEnd ? url.slice(hostEnd, pathEnd) : '/',
    query,
  };
}

/** The first value of a query parameter, decoded like a form's field and trimmed; '' where it is absent or empty. */
export function queryValue(query: string, name: string): string {
  const isEncoded = query.includes('%');
  if (!isEncoded && !query.includes(name)) return '';
  for (let from = 0; from < query.length; ) {
    const next = query.indexOf('&', from);
    const end = next < 0 ? query.length : next;
    const equals = query.indexOf('=', from);
    if (equals >= 0 && equals < end) {
      const written = query.slice(from, equals);
      if (written === name || (isEncoded && written.includes('%') && decode(written) === name)) {
        return decode(query.slice(equals + 1, end)).trim();
      }
    }
    from = end + 1;
  }
  return '';
}

function hostnameOf(authority: string): string {
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const bracket = host.startsWith('[') ? host.indexOf(']') : -1;
  if (bracket > 0) return host.slice(0, bracket + 1).toLowerCase();
  const colon = host.indexOf(':');
  const name = (colon < 0 ? host : host.slice(0, colon)).toLowerCase();
  // The root of all names may be written out: the same host.
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function decode(value: string): string {
  if (!value.includes('%') && !value.includes('+')) return value;
  try {
    return decodeURIComponent(value.replaceAll('+', ' '));
  } catch {
    return value;
  }
}
