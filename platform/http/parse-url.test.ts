import { expect, it } from 'vitest';
import { parseUrl } from './parse-url.ts';

it('takes a name with an umlaut however often it is asked', () => {
  let refused = 0;
  for (let call = 0; call < 20_000; call++) {
    if (parseUrl('https://münchen.example/') === undefined) refused++;
  }
  expect(refused).toBe(0);
});

it('reads a path against its base, and nothing that is no URL', () => {
  expect(parseUrl('/a?b', 'http://host')?.href).toBe('http://host/a?b');
  expect(parseUrl('not a URL')).toBeUndefined();
  expect(parseUrl('https://')).toBeUndefined();
});
