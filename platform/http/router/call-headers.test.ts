import { Code } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { checkVersion, routerHeaders } from './call-headers.ts';

describe('time-outs', () => {
  // A timer of 2^31 ms or more ends at once.
  it.each([
    ['connect-timeout-ms', '2147483647', '2147483647'],
    ['connect-timeout-ms', '2147483648', '2147483647'],
    ['connect-timeout-ms', '9999999999', '2147483647'],
    ['connect-timeout-ms', '99999999999', '99999999999'],
    ['connect-timeout-ms', 'soon', 'soon'],
    ['grpc-timeout', '2147483S', '2147483S'],
    ['grpc-timeout', '2147484S', '2147483S'],
    ['grpc-timeout', '597H', '2147483S'],
    ['grpc-timeout', '596H', '596H'],
    ['grpc-timeout', '99999999m', '99999999m'],
    ['grpc-timeout', '99999999n', '99999999n'],
    ['grpc-timeout', '999999999H', '999999999H'],
  ])('%s: %s', (name, sent, read) => {
    expect(routerHeaders(new Headers({ [name]: sent })).get(name)).toBe(read);
  });
});

it('the version of Connect is 1, where it is named', () => {
  checkVersion(new Headers());
  checkVersion(new Headers({ 'connect-protocol-version': '1' }));
  for (const version of ['2', '', '1, 1']) {
    const header = new Headers({ 'connect-protocol-version': version });
    expect(() => checkVersion(header)).toThrow(
      expect.objectContaining({ code: Code.InvalidArgument }),
    );
  }
});
