// The names of countries.

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** Of an alpha-2 code in capitals; any other text as it is. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (names.of(code) ?? code) : code;
}
