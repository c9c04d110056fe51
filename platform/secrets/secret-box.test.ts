import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  changeInstanceKey,
  dropOldInstanceKeys,
  instanceKeyPath,
  openSecretBox,
} from './secret-box.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-box-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

it('opens its sealed texts for the same purpose, in any process on the directory', () => {
  const box = openSecretBox(dataDir);
  const sealed = box.seal('pässword', 'a');
  expect(sealed).not.toContain('pässword');
  expect(box.seal('pässword', 'a')).not.toBe(sealed);
  expect(openSecretBox(dataDir).open(sealed, 'a')).toBe('pässword');
  expect(box.open(sealed, 'b')).toBeUndefined();
  expect(statSync(instanceKeyPath(dataDir)).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDir)).toEqual(['instance-key.json']);
});

it('does not open a text that was changed, cut or made up', () => {
  const box = openSecretBox(dataDir);
  const sealed = box.seal('password', 'a');
  const [head, id, body = ''] = sealed.split('.');
  for (let index = 0; index < body.length; index++) {
    const flipped = body[index] === 'A' ? 'B' : 'A';
    const changed = body.slice(0, index) + flipped + body.slice(index + 1);
    // The last character may hold unused bits.
    if (Buffer.from(changed, 'base64url').equals(Buffer.from(body, 'base64url'))) continue;
    expect(box.open(`${head}.${id}.${changed}`, 'a')).toBeUndefined();
  }
  for (const text of ['', 'x', `${head}.${id}`, `${head}.${id}.AAAA`, `${head}.nobody.${body}`]) {
    expect(box.open(text, 'a')).toBeUndefined();
  }
});

it('seals with a new key, while the old key opens until it is dropped', () => {
  const box = openSecretBox(dataDir);
  const old = box.seal('password', 'a');
  changeInstanceKey(dataDir);
  expect(box.isStale(old)).toBe(true);
  const fresh = box.seal('password', 'a');
  expect(box.isStale(fresh)).toBe(false);
  expect(box.open(old, 'a')).toBe('password');
  dropOldInstanceKeys(dataDir);
  expect(openSecretBox(dataDir).open(old, 'a')).toBeUndefined();
  expect(openSecretBox(dataDir).open(fresh, 'a')).toBe('password');
});

it('refuses a key file that others can read, or that is damaged', () => {
  openSecretBox(dataDir);
  chmodSync(instanceKeyPath(dataDir), 0o640);
  expect(() => openSecretBox(dataDir)).toThrow('can be read by other users');
  chmodSync(instanceKeyPath(dataDir), 0o600);
  for (const text of ['{', '{}', '{"schemaVersion":1,"current":"a","keys":{"a":"c2hvcnQ="}}']) {
    writeFileSync(instanceKeyPath(dataDir), text);
    expect(() => openSecretBox(dataDir)).toThrow('is damaged');
  }
});
