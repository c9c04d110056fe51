import { expect, it } from 'vitest';
import { isJson, isPlainText, withoutCharset } from './content-type.ts';

it.each([
  ['application/json', 'application/json'],
  ['application/json; charset=utf-8', 'application/json'],
  ['application/json;charset=UTF-8', 'application/json'],
  ['application/json; charset=utf8', 'application/json'],
  ['application/json ; Charset="Utf-8" ', 'application/json'],
  ['application/grpc-web+json; charset="utf-8"', 'application/grpc-web+json'],
  // These stay, for a route to refuse.
  ['application/json; charset=latin1', 'application/json; charset=latin1'],
  ['application/json; charset="utf-8', 'application/json; charset="utf-8'],
  ['application/json; charset=utf-8; q=1', 'application/json; charset=utf-8; q=1'],
  ['; charset=utf-8', '; charset=utf-8'],
])('%s', (sent, type) => {
  expect(withoutCharset(sent)).toBe(type);
  expect(isJson(sent)).toBe(type === 'application/json');
  expect(isPlainText(sent.replace('application/json', 'text/plain'))).toBe(isJson(sent));
});
