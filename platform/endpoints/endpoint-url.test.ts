import { describe, expect, it } from 'vitest';
import { networks } from '../private-networks.ts';
import { checkEndpointUrl } from './endpoint-url.ts';

const nothing = networks([]);
const loopback = networks(['127.0.0.0/8', '::1/128']);

describe('an endpoint URL', () => {
  it.each([
    'https://example.com/hook?x=1',
    'https://example.com:8443',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://münchen.example/',
    'https://localhost.example.com/',
  ])('may be %s', (text) => {
    expect(checkEndpointUrl(text, { allowed: nothing })).toMatchObject({ kind: 'ok' });
  });

  it.each([
    'http://example.com/',
    'ftp://example.com/',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://example.com:0/',
    'example.com',
    'https://',
    '',
    `https://example.com/${'x'.repeat(2_048)}`,
    'https://localhost/',
    'https://localhost./',
    'https://a.LOCALHOST/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://router.home.arpa/',
    'https://127.0.0.1/',
    'https://127.0.0.1./',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://①②⑦.⓪.⓪.①/',
    'https://0.0.0.0/',
    'https://0/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[2001:0:7f00:1::]/',
    'https://[2002:7f00:1::]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://[ff02::1]/',
  ])('may not be %s', (text) => {
    expect(checkEndpointUrl(text, { allowed: nothing })).toMatchObject({ kind: 'refused' });
  });

  it.each([
    'http://127.0.0.1:9000/',
    'http://2130706433/',
    'https://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://localhost:9000/',
    'http://hooks.internal/',
    'https://8.8.8.8/',
  ])('may be %s where the operator opened loopback', (text) => {
    expect(checkEndpointUrl(text, { allowed: loopback })).toMatchObject({ kind: 'ok' });
  });

  it.each([
    'http://8.8.8.8/',
    'http://10.0.0.1/',
    'https://10.0.0.1/',
    'https://[64:ff9b::7f00:1]/',
  ])('may not be %s where the operator opened loopback alone', (text) => {
    expect(checkEndpointUrl(text, { allowed: loopback })).toMatchObject({ kind: 'refused' });
  });

  it('loses its fragment, which is never sent', () => {
    const checked = checkEndpointUrl('https://EXAMPLE.com/a#b', { allowed: nothing });
    expect(checked).toMatchObject({ url: { href: 'https://example.com/a' } });
  });
});
