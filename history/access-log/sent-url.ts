// An address as a page of the site would send it: the script for pages (sdk/browser) leaves out what may name a person.

import { parseUrl } from '../../platform/http/parse-url.ts';
import { maxStringValueCodePoints } from '../../platform/limits.ts';
import { clickIds } from '../../proto/wire/click-ids.ts';

const namesOfClicks: readonly string[] = clickIds;

/**
 * Returns a function that takes user info, fragment and parameters out of an address, but for those of campaigns and
 * clicks and those that `names` lists, with commas between; `*` in a name is any text. A click id becomes 1: its value
 * names a person, and a log tells nobody's consent. Other texts stay as they are; both are cut to a property's length.
 */
export function createSentUrl(names: string): (text: string) => string {
  const listed = ['utm_*', ...clickIds, ...names.split(',')];
  const kept = listed.map((name) => name.trim().split('*'));
  return (text) => {
    const url = parseUrl(text);
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return cut(text);
    url.username = '';
    url.password = '';
    url.hash = '';
    for (const name of new Set(url.searchParams.keys())) {
      if (!kept.some((parts) => matches(name, parts))) url.searchParams.delete(name);
      else if (namesOfClicks.includes(name) && url.searchParams.getAll(name).some(Boolean)) {
        url.searchParams.set(name, '1');
      }
    }
    return cut(url.href);
  };
}

/** In linear time: each part is looked for behind the one before it. */
function matches(name: string, [start = '', ...rest]: readonly string[]): boolean {
  const end = rest.pop();
  if (end === undefined) return name === start;
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.endsWith(end) && name.length - end.length >= at;
}

function cut(text: string): string {
  if (text.length <= maxStringValueCodePoints) return text;
  return [...text].slice(0, maxStringValueCodePoints).join('');
}
