import { describe, expect, it } from 'vitest';
import { createOnlyThisMachine } from './only-this-machine.ts';

const local = createOnlyThisMachine({ host: '127.0.0.1', facesOthers: false });
const peerAddress = '127.0.0.1';

describe('a request on a loopback listener', () => {
  it.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080', '[::1]'])(
    'counts as this machine with the host %s',
    (host) => expect(local({ headers: { host }, peerAddress })).toBe(true),
  );

  it('counts as this machine over IPv6, and over HTTP/2', () => {
    expect(local({ headers: { host: 'localhost' }, peerAddress: '::1' })).toBe(true);
    expect(local({ headers: { host: 'localhost' }, peerAddress: '::ffff:127.0.0.1' })).toBe(true);
    expect(local({ headers: { ':authority': 'localhost:8080' }, peerAddress })).toBe(true);
  });

  it.each(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-anything'])(
    'counts as the world with the header %s of a proxy',
    (name) =>
      expect(local({ headers: { host: 'localhost', [name]: 'x' }, peerAddress })).toBe(false),
  );

  // A page whose name was made to point to this machine (DNS rebinding) sends its own name.
  it.each(['millrace.example', 'localhost.example', '127.0.0.1.example', '10.0.0.1', ''])(
    'counts as the world with the host "%s"',
    (host) => expect(local({ headers: { host }, peerAddress })).toBe(false),
  );

  it('counts as the world without a host, and from another address', () => {
    expect(local({ headers: {}, peerAddress })).toBe(false);
    expect(local({ headers: { host: 'localhost' }, peerAddress: '192.168.1.7' })).toBe(false);
    expect(local({ headers: { host: 'localhost' }, peerAddress: undefined })).toBe(false);
  });
});

it('counts every request as the world where the service listens for it, or the operator says so', () => {
  const request = { headers: { host: 'localhost' }, peerAddress };
  expect(createOnlyThisMachine({ host: '0.0.0.0', facesOthers: false })(request)).toBe(false);
  expect(createOnlyThisMachine({ host: '127.0.0.1', facesOthers: true })(request)).toBe(false);
});
