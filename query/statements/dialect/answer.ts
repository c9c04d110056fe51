// The answer over HTTP: ClickHouse's headers, its error lines and its frame around an error that comes behind rows.

import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough, type Transform } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { StatementRefusal } from '../refusal.ts';
import { BlockPacker } from './packed-blocks.ts';

/** Of refusals: others are 400. 501 and 429 would hide the sentence from drivers. */
const statusOf: ReadonlyMap<number, number> = new Map([
  [516, 401],
  [279, 503],
]);
const gzipLevel = 2;

/** Gives the statement its id. */
export function startAnswer(response: ServerResponse, queryId: string): void {
  response.setHeader('X-ClickHouse-Query-Id', queryId || randomUUID());
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
}

export function errorLine({ code, type, message }: StatementRefusal): string {
  const sentence = message.replace(/[.\s]+$/, '');
  return `Code: ${code}. DB::Exception: ${sentence}. (${type})`;
}

/** Where the head is not sent yet. */
export function refuse(response: ServerResponse, refusal: StatementRefusal): void {
  if (response.destroyed) return;
  const status = statusOf.get(refusal.code) ?? 400;
  response.removeHeader('Content-Encoding');
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(refusal.code),
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(status === 503 && { 'Retry-After': '1' }),
  });
  response.end(`${errorLine(refusal)}\n`);
}

interface AnswerForm {
  format: string;
  contentType: string;
  /** By HTTP. */
  gzips: boolean;
  /** In ClickHouse's own blocks. */
  packs: boolean;
}

/** What rows go through before they are sent, the last one to the response. */
function stagesOf({ gzips, packs }: AnswerForm): [first: Transform, ...Transform[]] {
  const gzip = gzips ? [createGzip({ level: gzipLevel })] : [];
  return [packs ? new BlockPacker() : new PassThrough(), ...gzip];
}

/**
 * Sends `body`; the head goes with its first bytes, so what it throws before them is thrown. What it throws later is
 * told behind the rows, and returned. Returns the number of bytes otherwise.
 */
export async function sendRows(
  response: ServerResponse,
  body: AsyncGenerator<Buffer, void, undefined>,
  form: AnswerForm,
  gone: AbortSignal,
  refusalOf: (error: unknown) => StatementRefusal,
): Promise<{ bytes: number; failure?: StatementRefusal }> {
  let next = await body.next();
  const tag = randomBytes(8).toString('hex');
  response.writeHead(200, {
    'Content-Type': form.contentType,
    'X-ClickHouse-Format': form.format,
    'X-ClickHouse-Exception-Tag': tag,
    ...(form.gzips && { 'Content-Encoding': 'gzip' }),
  });
  const stages = stagesOf(form);
  for (const [at, stage] of stages.entries()) {
    stage.on('error', () => response.destroy());
    stage.pipe(stages[at + 1] ?? response);
  }
  const [target] = stages;
  let bytes = 0;
  try {
    while (next.done !== true) {
      bytes += next.value.length;
      if (!target.write(next.value)) await once(target, 'drain', { signal: gone });
      next = await body.next();
    }
    target.end();
    return { bytes };
  } catch (error) {
    const failure = refusalOf(error);
    const line = `${errorLine(failure)}\n`;
    const length = Buffer.byteLength(line);
    const mark = '__exception__';
    const frame = `\r\n${mark}\r\n${tag}\r\n${line}${length} ${tag}\r\n${mark}\r\n`;
    target.end(frame);
    return { bytes, failure };
  }
}
