// City databases against MaxMind's own lists, and damaged files. Skipped where the outside test data is absent.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasTestData, testData } from '../../test/harness/test-data.ts';
import { openGeo } from './geo.ts';

interface Place {
  continent?: { code?: string };
  country?: { iso_code?: string };
  subdivisions?: { iso_code?: string; names?: { en?: string } }[];
  city?: { names?: { en?: string } };
  location?: { latitude?: number; longitude?: number; time_zone?: string };
}

function networks(name: string): [string, Place][] {
  const listed: Record<string, Place>[] = JSON.parse(
    readFileSync(testData('geoip', `${name}.json`), 'utf8'),
  );
  return listed.flatMap((entry) => Object.entries(entry));
}

function expected(place: Place): object | undefined {
  const [region] = place.subdivisions ?? [];
  const location = {
    country: place.country?.iso_code,
    region: region?.names?.en ?? region?.iso_code,
    city: place.city?.names?.en,
    continent: place.continent?.code,
    latitude: place.location?.latitude,
    longitude: place.location?.longitude,
    timezone: place.location?.time_zone,
  };
  const known = Object.entries(location).filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

/** Networks may lie inside others; the first address of each belongs to the network itself. */
const firstAddress = (network: string): string => network.split('/')[0] ?? '';

describe.runIf(hasTestData)('a city database', () => {
  for (const name of ['GeoIP2-City-Test', 'GeoLite2-City-Test']) {
    it(`${name}: gives every listed network its names`, () => {
      const locate = openGeo(testData('geoip', `${name}.mmdb`));
      const listed = networks(name);
      expect(listed.length).toBeGreaterThan(200);
      for (const [network, place] of listed) {
        expect([network, locate(firstAddress(network))]).toEqual([network, expected(place)]);
      }
    });
  }

  it('has no place for private, unknown and malformed addresses, and does not throw', () => {
    const locate = openGeo(testData('geoip', 'GeoIP2-City-Test.mmdb'));
    for (const address of ['10.0.0.1', '127.0.0.1', '::', '', 'x', '1.2.3', '999.1.1.1', '::g']) {
      expect(locate(address)).toBeUndefined();
    }
  });

  it('has no place for an IPv6 address where it holds IPv4 alone', () => {
    const bytes = readFileSync(testData('geoip', 'GeoIP2-City-Test.mmdb'));
    const address = '2001:218::';
    const place = openGeo(testData('geoip', 'GeoIP2-City-Test.mmdb'))(address);
    expect(place).toMatchObject({ country: 'JP' });
    const copy = join(mkdtempSync(join(tmpdir(), 'millrace-geo-')), 'copy.mmdb');
    // The format's two bytes of a number's type come before it: the same tree, whose first bits are now of IPv4.
    const versionAt = bytes.lastIndexOf('ip_version') + 'ip_version'.length + 1;
    expect(bytes[versionAt]).toBe(6);
    bytes[versionAt] = 4;
    writeFileSync(copy, bytes);
    const locate = openGeo(copy);
    expect(locate(address)).toBeUndefined();
    expect(locate('32.1.2.24')).toEqual(place);
    rmSync(dirname(copy), { recursive: true });
  });

  it('is refused with a reason where it is damaged, missing or of another kind', () => {
    const why = (name: string): string => {
      try {
        openGeo(testData('geoip', name));
        return 'opened';
      } catch (error) {
        return error instanceof Error ? error.message.replace(testData('geoip', name), name) : '';
      }
    };
    const rows: [string, RegExp][] = [
      ['GeoIP2-City-Test-Broken-Double-Format.mmdb', /^the double at byte \d+ has 5 bytes$/],
      ['MaxMind-DB-test-broken-search-tree-24.mmdb', /^it holds no cities: Test$/],
      ['absent.mmdb', /^ENOENT/],
      ['GeoIP2-City-Test.json', /^.+$/],
    ];
    for (const [name, reason] of rows) {
      const [start, message = ''] = why(name).split(' cannot be used: ');
      expect(start).toBe(`the geo database ${name}`);
      expect(message).toMatch(reason);
    }
  });

  it('is refused where its tree leads outside or a byte is missing', () => {
    const bytes = readFileSync(testData('geoip', 'GeoIP2-City-Test.mmdb'));
    const copy = join(mkdtempSync(join(tmpdir(), 'millrace-geo-')), 'copy.mmdb');
    const damaged = Buffer.from(bytes);
    damaged.fill(0xff, 0, 8);
    writeFileSync(copy, damaged);
    expect(() => openGeo(copy)).toThrow('cannot be used: node 0 leads outside of it');
    const metadataAt = bytes.lastIndexOf('MaxMind.com') - 3;
    writeFileSync(
      copy,
      Buffer.concat([bytes.subarray(0, metadataAt - 1), bytes.subarray(metadataAt)]),
    );
    expect(() => openGeo(copy)).toThrow('cannot be used: its last value is cut short');
    rmSync(dirname(copy), { recursive: true });
  });
});
