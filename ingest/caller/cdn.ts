// The headers in which each supported CDN or load balancer describes the caller. Whether a request came from that CDN
// at all, and may be believed, is caller.ts's decision.

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { CdnPreset } from '../../platform/config.ts';
import type { Location } from '../../proto/wire/frame.ts';

interface Cdn {
  /** The caller's address as sent, with or without a port. */
  address(headers: IncomingHttpHeaders): string | undefined;
  /** The caller's place; values are as sent. */
  place(headers: IncomingHttpHeaders): Place;
}

type Place = { [key in keyof Location]?: string | undefined };

/** Undefined where the header is missing, empty or sent more than once. */
export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Leaves out values that are no country, continent, name or number; undefined where nothing is left. */
export function locationFrom(cdn: Cdn, headers: IncomingHttpHeaders): Location | undefined {
  const place = cdn.place(headers);
  const location: Location = {};
  const country = codeOf(place.country);
  const continent = codeOf(place.continent);
  const region = nameOf(place.region);
  const city = nameOf(place.city);
  const timezone = nameOf(place.timezone);
  const latitude = degreesOf(place.latitude, 90);
  const longitude = degreesOf(place.longitude, 180);
  if (country !== undefined && !noCountries.has(country)) location.country = country;
  if (region !== undefined) location.region = region;
  if (city !== undefined) location.city = city;
  if (continent !== undefined && continents.has(continent)) location.continent = continent;
  if (latitude !== undefined) location.latitude = latitude;
  if (longitude !== undefined) location.longitude = longitude;
  if (timezone !== undefined) location.timezone = timezone;
  return Object.keys(location).length === 0 ? undefined : location;
}

/** Cloudflare's codes for unknown and for Tor, Google's for unknown. */
const noCountries = new Set(['XX', 'T1', 'ZZ']);
const continents = new Set(['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA']);
const maxNameCharacters = 128;
/** Fastly's and Akamai's words for a place that they do not know. A letter may be a region, or a city: Å. */
const unknownNames = new Set(['?', '-']);

function codeOf(value: string | undefined): string | undefined {
  const code = value?.trim().toUpperCase();
  return code !== undefined && /^[A-Z][A-Z0-9]$/.test(code) ? code : undefined;
}

/** Node reads header bytes as Latin-1, and CDNs send names in UTF-8. */
function nameOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value.trim(), 'latin1');
  const name = isUtf8(bytes) ? bytes.toString('utf8') : value.trim();
  const isName = name !== '' && !unknownNames.has(name) && name.length <= maxNameCharacters;
  return isName ? name : undefined;
}

function degreesOf(value: string | undefined, max: number): number | undefined {
  if (value === undefined || !/^[-+]?[0-9]{1,3}(?:\.[0-9]+)?$/.test(value.trim())) return undefined;
  const degrees = Number(value);
  return Math.abs(degrees) <= max ? degrees : undefined;
}

/** For CDNs that send each field of a place in its own header. */
function fromHeaders(names: { [key in keyof Location]?: string }): Cdn['place'] {
  const entries = Object.entries(names);
  return (headers) =>
    Object.fromEntries(entries.map(([key, name]) => [key, header(headers, name)]));
}

function percentDecoded(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  try {
    return Buffer.from(decodeURIComponent(value)).toString('latin1');
  } catch {
    return value;
  }
}

const vercelPlace = fromHeaders({
  country: 'x-vercel-ip-country',
  region: 'x-vercel-ip-country-region',
  city: 'x-vercel-ip-city',
  continent: 'x-vercel-ip-continent',
  latitude: 'x-vercel-ip-latitude',
  longitude: 'x-vercel-ip-longitude',
  timezone: 'x-vercel-ip-timezone',
});

const gcpPlace = fromHeaders({
  country: 'x-client-region',
  region: 'x-client-region-subdivision',
  city: 'x-client-city',
});

/** `georegion=246,country_code=US,region_code=CA,city=SANJOSE,lat=37.3,long=-121.8,continent=NA` */
function edgescape(headers: IncomingHttpHeaders): Place {
  const fields = new Map<string, string>();
  for (const field of (header(headers, 'x-akamai-edgescape') ?? '').split(',')) {
    const [name = '', value = ''] = field.split('=', 2);
    fields.set(name.trim(), value.trim());
  }
  return {
    country: fields.get('country_code'),
    region: fields.get('region_code'),
    city: fields.get('city'),
    continent: fields.get('continent'),
    latitude: fields.get('lat'),
    longitude: fields.get('long'),
  };
}

export const cdns: Readonly<Record<CdnPreset, Cdn>> = {
  cloudflare: {
    address: (headers) => header(headers, 'cf-connecting-ip'),
    // All headers but the country's need Cloudflare's managed transform "Add visitor location headers".
    place: fromHeaders({
      country: 'cf-ipcountry',
      region: 'cf-region',
      city: 'cf-ipcity',
      continent: 'cf-ipcontinent',
      latitude: 'cf-iplatitude',
      longitude: 'cf-iplongitude',
      timezone: 'cf-timezone',
    }),
  },
  cloudfront: {
    // A port always follows, even an IPv6 address without brackets.
    address: (headers) => header(headers, 'cloudfront-viewer-address')?.replace(/:\d+$/, ''),
    place: fromHeaders({
      country: 'cloudfront-viewer-country',
      region: 'cloudfront-viewer-country-region-name',
      city: 'cloudfront-viewer-city',
      latitude: 'cloudfront-viewer-latitude',
      longitude: 'cloudfront-viewer-longitude',
      timezone: 'cloudfront-viewer-time-zone',
    }),
  },
  fastly: {
    address: (headers) => header(headers, 'fastly-client-ip'),
    // Fastly adds no place by itself: the operator's VCL sets these headers from client.geo.*.
    place: fromHeaders({
      country: 'client-geo-country',
      region: 'client-geo-region',
      city: 'client-geo-city',
      continent: 'client-geo-continent',
      latitude: 'client-geo-latitude',
      longitude: 'client-geo-longitude',
    }),
  },
  vercel: {
    address: (headers) =>
      header(headers, 'x-vercel-forwarded-for')?.split(',')[0] ?? header(headers, 'x-real-ip'),
    place: (headers) => {
      const place = vercelPlace(headers);
      return { ...place, city: percentDecoded(place.city) };
    },
  },
  akamai: {
    address: (headers) => header(headers, 'true-client-ip'),
    place: edgescape,
  },
  gcp: {
    // The load balancer appends the caller's address and its own.
    address: (headers) => header(headers, 'x-forwarded-for')?.split(',').at(-2),
    // Custom request headers, under the names that Google's documentation uses.
    place: (headers) => {
      const [latitude, longitude] = (header(headers, 'x-client-city-lat-long') ?? '').split(',');
      return { ...gcpPlace(headers), latitude, longitude };
    },
  },
};
