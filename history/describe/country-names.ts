// From an English name of a country to its two letters: some vendors export names, and Millrace's places are codes.

/** Names that the Unicode data, which Intl has, spells otherwise. */
const others: readonly (readonly [name: string, code: string])[] = [
  ['Turkey', 'TR'],
  ['Czech Republic', 'CZ'],
  ['Hong Kong', 'HK'],
  ['Macau', 'MO'],
  ['Macao', 'MO'],
  ['Myanmar', 'MM'],
  ['Russian Federation', 'RU'],
  ['Viet Nam', 'VN'],
  ['Korea, Republic of', 'KR'],
  ['Ivory Coast', 'CI'],
  ['Cape Verde', 'CV'],
  ['Palestine', 'PS'],
  ['Swaziland', 'SZ'],
  ['Macedonia', 'MK'],
  ['Macedonia (FYROM)', 'MK'],
  ['Bosnia and Herzegovina', 'BA'],
  ['Trinidad and Tobago', 'TT'],
  ['Antigua and Barbuda', 'AG'],
  ['Congo', 'CG'],
  ['Democratic Republic of the Congo', 'CD'],
  ['The Netherlands', 'NL'],
  ['United States of America', 'US'],
];

function makeCodes(): ReadonlyMap<string, string> {
  const codes = new Map(others.map(([name, code]) => [name.toLowerCase(), code]));
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, n) => String.fromCharCode(0x41 + n));
  for (const first of letters) {
    for (const second of letters) {
      const code = first + second;
      // Codes of states that are no more have the names of others: DD is Germany, too.
      if (Intl.getCanonicalLocales(`und-${code}`)[0] !== `und-${code}`) continue;
      const name = names.of(code)?.toLowerCase();
      if (name !== undefined && !codes.has(name)) codes.set(name, code);
    }
  }
  return codes;
}

/** Made where a name is first asked for: most exports have codes. */
let codes: ReadonlyMap<string, string> | undefined;

/** The code of a name, or of a code in any case; undefined where it is neither. */
export function countryCode(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^[A-Za-z]{2}$/.test(value)) return value.toUpperCase();
  codes ??= makeCodes();
  return codes.get(value.toLowerCase());
}
