// A file of the build with its packed forms beside it, as setup/ left them: read once, then answered from memory, in
// the best form that the browser takes.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The best first. */
const packings = ['br', 'gzip'] as const;
const endings = { br: '.br', gzip: '.gz' };

/** The name may be kept for ever: its content never changes. */
export const immutable = 'public, max-age=31536000, immutable';

export interface PackedFile {
  /** The first digits of its content's SHA-256. */
  version: string;
  plain: Buffer;
  /** A form is absent where packing did not make the file shorter. */
  packed: Partial<Record<(typeof packings)[number], Buffer>>;
}

/** Throws the system's error where there is no such file. */
export function readPackedFile(path: string): PackedFile {
  const plain = readFileSync(path);
  const file: PackedFile = {
    version: createHash('sha256').update(plain).digest('hex').slice(0, 12),
    plain,
    packed: {},
  };
  for (const packing of packings) {
    const packedPath = path + endings[packing];
    if (existsSync(packedPath)) file.packed[packing] = readFileSync(packedPath);
  }
  return file;
}

/** Answers a GET or HEAD; a browser that has this version is told so. `headers` says what else `vary` names. */
export function answerPackedFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: PackedFile,
  headers: Readonly<Record<string, string>>,
): void {
  const own = { ...headers, etag: `W/"${file.version}"` };
  if (request.headers['if-none-match']?.includes(`"${file.version}"`) === true) {
    response.writeHead(304, own).end();
    return;
  }
  const accepted = acceptedPackings(request.headers['accept-encoding']);
  const packing = packings.find((one) => accepted.includes(one) && file.packed[one] !== undefined);
  const body = (packing && file.packed[packing]) ?? file.plain;
  response.writeHead(200, {
    ...own,
    ...(packing && { 'content-encoding': packing }),
    'content-length': body.length,
  });
  response.end(body);
}

/** A packing with q=0 is refused by the browser. */
function acceptedPackings(acceptEncoding = ''): (string | undefined)[] {
  return acceptEncoding
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()))
    .filter(([, quality = 'q=1']) => !/^q=0(?:\.0*)?$/.test(quality))
    .map(([name]) => name);
}
