// What a restore may remove: only what a restore of the same directory into the same servers has left.

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { refuseHalfRestored } from '../../platform/engines/data-lock.ts';
import { beginRestore, endRestore, noteTargets, placeOf } from './half-restored.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-restore-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('a directory with anything in it is left as it is', () => {
  writeFileSync(join(directory, 'demo.json'), '{}');
  expect(() => beginRestore(directory)).toThrow(
    'holds demo.json: restore into an empty data directory',
  );
  expect(readdirSync(directory)).toEqual(['demo.json']);
});

it('a restore that was cut is begun anew, and no service starts before its end', () => {
  const targets = { broker: placeOf('nats://op:secret@a:4222'), store: placeOf(undefined) };
  expect(beginRestore(directory)).toBeUndefined();
  noteTargets(directory, targets);
  writeFileSync(join(directory, 'demo.json'), '{}');
  expect(() => refuseHalfRestored(directory)).toThrow('was not finished');
  expect(beginRestore(directory)).toEqual({ broker: 'nats://a:4222', store: 'embedded' });
  expect(existsSync(join(directory, 'demo.json'))).toBe(false);
  endRestore(directory);
  refuseHalfRestored(directory);
});

it('one that was cut before it found the servers empty may remove nothing in them', () => {
  beginRestore(directory);
  expect(beginRestore(directory)).toBeUndefined();
});

it.each([
  ['nats://u:p@a:1,nats://u:p@b:2', 'nats://a:1,nats://b:2'],
  ['http://u:p%40@host:8123/millrace', 'http://host:8123/millrace'],
  ['unix:///run/engine.sock?database=m&password=p', 'unix:///run/engine.sock'],
])('the place %s has no secret', (url, place) => {
  expect(placeOf(url)).toBe(place);
});
