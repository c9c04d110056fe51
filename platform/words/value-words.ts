// What kinds of events and values of properties are called, on pages and in mails alike.

import { absentName } from './insight-words.ts';

/** A kind as people say it: `page_view` and `page.view` are "Page view". Empty is every kind. */
export function kindName(kind: string): string {
  if (kind === '') return 'Any event';
  const words = kind.replace(/_|\.(?=[a-z])/giu, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** Of an alpha-2 code in capitals; any other text as it is. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (countries.of(code) ?? code) : code;
}

/** A value of a property as people say it; undefined where it is absent. */
export function valueName(property: string, value: string | undefined): string {
  if (value === undefined) return absentName;
  if (property === '$country') return value === '' ? '(empty)' : countryName(value);
  if (lowerCase.has(property)) return value.charAt(0).toUpperCase() + value.slice(1);
  if (property === '$language') return languageName(value);
  return value === '' ? '(empty)' : value;
}

/** Their values are words of the service, which are stored in lower case. */
const lowerCase: ReadonlySet<string> = new Set(['$channel', '$deviceType', '$viewport']);

const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

/** "German (de-DE)": two tags of one language stay apart. */
function languageName(tag: string): string {
  if (!/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(tag)) return tag === '' ? '(empty)' : tag;
  try {
    const [language = ''] = tag.split('-');
    const name = languages.of(language);
    return name === undefined || name === language ? tag : `${name} (${tag})`;
  } catch {
    return tag;
  }
}
