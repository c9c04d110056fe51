// Reads the head of a plain request strictly. A head that could be understood in two ways is not read here but left to
// node:http, so that both always agree on where a request ends.

export interface RequestHead {
  path: string;
  /** The target's text behind its first '?'. */
  query: string;
  /** By name in lower case, like node:http's. */
  headers: Readonly<Record<string, string>>;
  /** From content-length; the body is neither chunked nor compressed. */
  bodyBytes: number;
}

/** POST in HTTP/1.1; every field is ASCII and on a line of its own. */
const plainHead =
  /^POST \/[\x21-\x7e]* HTTP\/1\.1\r\n(?:[A-Za-z][A-Za-z0-9-]*:[\t\x20-\x7e]*\r\n)+$/;
const targetStart = 'POST '.length;
const versionLength = ' HTTP/1.1\r\n'.length;

/** These fields change how a body is read, or what its sender waits for. */
const unusual = ['transfer-encoding', 'content-encoding', 'expect', 'upgrade', 'trailer', 'te'];

/**
 * `text` ends with the line break of the last field. Undefined where the request is not plain: a field comes twice or
 * has unusual bytes, there is no host or no length, the connection is not to be kept.
 */
export function readHead(text: string): RequestHead | undefined {
  if (!plainHead.test(text)) return undefined;
  const fieldsStart = text.indexOf('\n') + 1;
  const headers: Record<string, string> = {};
  for (let at = fieldsStart; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    const name = text.slice(at, colon).toLowerCase();
    if (headers[name] !== undefined) return undefined;
    headers[name] = text.slice(colon + 1, end).trim();
    at = end + 2;
  }
  const bodyBytes = plainLength(headers);
  if (bodyBytes === undefined) return undefined;
  const target = text.slice(targetStart, fieldsStart - versionLength);
  const mark = target.indexOf('?');
  return {
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
    headers,
    bodyBytes,
  };
}

function plainLength(headers: Readonly<Record<string, string>>): number | undefined {
  for (const name of unusual) if (headers[name] !== undefined) return undefined;
  const connection = headers['connection'];
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined;
  const length = headers['content-length'];
  if (length === undefined || !/^\d{1,9}$/.test(length)) return undefined;
  return headers['host'] === undefined ? undefined : Number(length);
}
