// Checks the UUIDs of every event, and derives the ids that a sender left out. Works on text only.

import { createHash } from 'node:crypto';

// 1 for a hexadecimal digit, 2 for the hyphen, 0 for everything else.
const characterClass = new Uint8Array(128);
for (const digit of '0123456789abcdefABCDEF') characterClass[digit.charCodeAt(0)] = 1;
characterClass['-'.charCodeAt(0)] = 2;
const classes = new Uint8Array(36).fill(1);
for (const hyphenAt of [8, 13, 18, 23]) classes[hyphenAt] = 2;

/** Whether `text` is 8-4-4-4-12 hexadecimal digits of either case; takes any version and variant. */
export function isUuid(text: string): boolean {
  if (text.length !== 36) return false;
  for (let at = 0; at < 36; at++) {
    if (characterClass[text.charCodeAt(at)] !== classes[at]) return false;
  }
  return true;
}

/** The version 5 UUID (RFC 9562) of `name` in the namespace `namespace`, which is a UUID itself. */
export function uuidV5(namespace: string, name: string): string {
  const namespaceBytes = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  const hash = createHash('sha1').update(namespaceBytes).update(name).digest();
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...groups, hex.slice(20, 32)].join('-');
}
