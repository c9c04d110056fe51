import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasTestData, testData } from '../../../test/harness/test-data.ts';
import { isUuid, uuidV5 } from './uuid.ts';

describe('isUuid', () => {
  it('takes any version, either case', () => {
    for (const text of [
      '00000000-0000-0000-0000-000000000000',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      '01890A5D-AC96-774B-BCCE-B302099A8057',
    ]) {
      expect([text, isUuid(text)]).toEqual([text, true]);
    }
  });

  it('refuses everything else', () => {
    for (const text of [
      '',
      '6ba7b8109dad11d180b400c04fd430c8',
      '{6ba7b810-9dad-11d1-80b4-00c04fd430c8}',
      'urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      '6ba7b810-9dad-11d1-80b4-00c04fd430c',
      '6ba7b810-9dad-11d1-80b4-00c04fd430c8a',
      '6ba7b810-9dad-11d1-80b400c04fd430c8--',
      '6ba7b81-09dad-11d1-80b4-00c04fd430c8',
      '6ba7b810-9dad-11d1-80b4-00c04fd430cg',
      '6ba7b810-9dad-11d1-80b4-00c04fd430c\u0148',
      '６ba7b810-9dad-11d1-80b4-00c04fd430c8',
    ]) {
      expect([text, isUuid(text)]).toEqual([text, false]);
    }
  });
});

describe('uuidV5', () => {
  it('makes the UUID of the example in RFC 9562', () => {
    const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
    expect(uuidV5(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  });

  it('differs between namespaces', () => {
    const first = uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'a');
    const second = uuidV5('6ba7b811-9dad-11d1-80b4-00c04fd430c8', 'a');
    expect(isUuid(first) && isUuid(second)).toBe(true);
    expect(first).not.toBe(second);
  });
});

interface Format {
  tests: { description: string; data: unknown; valid: boolean }[];
}

describe.runIf(hasTestData)('the JSON Schema suite’s uuid cases', () => {
  const suite: Format[] = hasTestData
    ? JSON.parse(readFileSync(testData('formats', 'uuid.json'), 'utf8'))
    : [];
  it('have the verdict of the suite, all of them', () => {
    for (const { description, data, valid } of suite.flatMap(({ tests }) => tests)) {
      if (typeof data !== 'string') continue;
      expect([description, isUuid(data)]).toEqual([description, valid]);
    }
  });
});
