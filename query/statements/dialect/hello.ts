// The first answer to clickhouse-go over HTTP, and so to Grafana: that client reads it in a form of the native protocol
// that the engine's HTTP interface does not write, and all later ones in the engine's own, because this one says
// revision 0.

import type { StatementAsked } from './statement-request.ts';

const hello =
  /^\s*select\s+displayname\(\)\s*,\s*version\(\)\s*,\s*revision\(\)\s*,\s*timezone\(\)\s*;?\s*$/i;

export function isHello({ sql, format, protocolVersion }: StatementAsked): boolean {
  return format === 'Native' && protocolVersion !== '' && hello.test(sql);
}

/** One block with one row: its information, then each column's name, type, "no custom serialization" and value. */
export function helloBlock(version: string): Buffer {
  const columns: [name: string, type: string, value: Buffer][] = [
    ['displayName()', 'String', text('Millrace')],
    ['version()', 'String', text(version)],
    ['revision()', 'UInt32', Buffer.alloc(4)],
    ['timezone()', 'String', text('UTC')],
  ];
  // Not overflowed, no bucket (-1), the end of the information; then the numbers of columns and rows.
  const head = Buffer.from([0x01, 0x00, 0x02, 0xff, 0xff, 0xff, 0xff, 0x00, columns.length, 1]);
  const parts = columns.map(([name, type, value]) =>
    Buffer.concat([text(name), text(type), Buffer.from([0]), value]),
  );
  return Buffer.concat([head, ...parts]);
}

/** Shorter than 128 bytes, so that its length is one byte. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
