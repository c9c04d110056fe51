// The place of an address, from a city database in MaxMind's format. Reads the file once and holds it in memory; a
// newer file is taken at the next start. Keeps no address that it looks up.

import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { Reader } from 'maxmind';
import { isObject, type JsonObject } from '../../platform/json.ts';
import type { Location } from '../../proto/wire/frame.ts';
import { geoFileFault } from './geo-file.ts';

/** The place of an IPv4 or IPv6 address; undefined where the database has none. Never throws. */
export type LocateAddress = (address: string) => Location | undefined;

/** Throws one sentence where `file` cannot be read, is damaged or holds no cities. */
export function openGeo(file: string): LocateAddress {
  const opened = open(file);
  if (typeof opened === 'string') {
    throw new Error(`the geo database ${file} cannot be used: ${opened}`);
  }
  return (address) => {
    try {
      return locationOf(opened.get(address));
    } catch {
      return undefined;
    }
  };
}

/** Undefined without a database; rejects with one sentence where the file is no city database. */
export async function openLocator(file: string | undefined): Promise<LocateAddress | undefined> {
  return file === undefined ? undefined : openGeo(file);
}

/** The reader, or the reason why the file cannot be used. */
function open(file: string): { get(address: string): unknown } | string {
  try {
    const bytes = readFileSync(file);
    const reader = new Reader<never>(bytes);
    const { databaseType, ipVersion } = reader.metadata;
    if (!/City|Enterprise/i.test(databaseType)) return `it holds no cities: ${databaseType}`;
    const fault = geoFileFault(bytes, reader.metadata);
    if (fault !== undefined) return fault;
    // The reader takes the first bytes of an IPv6 address for an IPv4 one where the database has these alone.
    return { get: (address) => (ipVersion === 4 && isIPv6(address) ? null : reader.get(address)) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The database comes from outside: every value is checked before it is used. */
function locationOf(record: unknown): Location | undefined {
  const place = objectOf(record);
  const coordinates = objectOf(place['location']);
  const subdivisions = place['subdivisions'];
  const region = objectOf(Array.isArray(subdivisions) ? subdivisions[0] : undefined);
  const location: Location = {};
  const country = textOf(objectOf(place['country'])['iso_code']);
  const regionName = textOf(englishName(region) ?? region['iso_code']);
  const city = textOf(englishName(objectOf(place['city'])));
  const continent = textOf(objectOf(place['continent'])['code']);
  const latitude = numberOf(coordinates['latitude']);
  const longitude = numberOf(coordinates['longitude']);
  const timezone = textOf(coordinates['time_zone']);
  if (country !== undefined) location.country = country;
  if (regionName !== undefined) location.region = regionName;
  if (city !== undefined) location.city = city;
  if (continent !== undefined) location.continent = continent;
  if (latitude !== undefined) location.latitude = latitude;
  if (longitude !== undefined) location.longitude = longitude;
  if (timezone !== undefined) location.timezone = timezone;
  return Object.keys(location).length === 0 ? undefined : location;
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function englishName(place: JsonObject): unknown {
  return objectOf(place['names'])['en'];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
