// Which well-known site a host belongs to.

import { type KnownSource, knownSources } from './known-sources.ts';

type Source = Pick<KnownSource, 'name' | 'kind'>;

const byHost = index('hosts');
const bySite = index('sites');
const byBrand = index('brands');

function index(member: 'hosts' | 'sites' | 'brands'): ReadonlyMap<string, Source> {
  const entries = knownSources.flatMap((source) =>
    (source[member] ?? '').split(' ').map((text) => [text, source] as const),
  );
  // The first that names a text keeps it.
  return new Map(entries.filter(([text]) => text !== '').reverse());
}

/** A domain of a country or a general one, as brands have them: de, com, co.uk, com.br. */
const suffix = /\.(?:com?\.[a-z]{2}|[a-z]{2,3})$/;

/** undefined for hosts that nobody has listed. */
export function sourceOf(host: string): Source | undefined {
  const lower = host.toLowerCase();
  const plain = lower.replace(/^(?:www|m)\./, '');
  const exact = byHost.get(lower) ?? byHost.get(plain);
  if (exact) return exact;
  const labels = plain.split('.');
  for (const place of labels.keys()) {
    const found = bySite.get(labels.slice(place).join('.'));
    if (found) return found;
  }
  return suffix.test(plain) ? byBrand.get(plain.replace(suffix, '')) : undefined;
}

/** What the pages call a host: the name of its site where that is known. */
export function sourceName(host: string): string {
  return sourceOf(host)?.name ?? host;
}

/** The listed hosts of sites whose name has the text, whatever its case; brands have one for each country. */
export function hostsOf(text: string): string[] {
  const sought = text.toLowerCase();
  return knownSources
    .filter(({ name }) => name.toLowerCase().includes(sought))
    .flatMap(({ hosts = '', sites = '' }) => `${hosts} ${sites}`.split(' '))
    .filter((host) => host !== '')
    .flatMap((host) => [host, `www.${host}`]);
}
