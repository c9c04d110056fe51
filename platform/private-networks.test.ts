// Every network of IANA's registries of special-purpose addresses, as RFC 6890 and its successors list them: its first
// and last address, and the neighbours that lie in the public internet.

import { describe, expect, it } from 'vitest';
import { isPublicAddress, isReachableAddress, networks, readNetworks } from './private-networks.ts';

describe('addresses that are not in the public internet', () => {
  it.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private use', '10.0.0.0', '10.255.255.255'],
    ['shared by carriers', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.255.255.255'],
    ['link local', '169.254.0.0', '169.254.255.255'],
    ['private use', '172.16.0.0', '172.31.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.255'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['6to4 relays', '192.88.99.0', '192.88.99.255'],
    ['private use', '192.168.0.0', '192.168.255.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['documentation', '198.51.100.0', '198.51.100.255'],
    ['documentation', '203.0.113.0', '203.0.113.255'],
    ['multicast', '224.0.0.0', '239.255.255.255'],
    ['reserved and broadcast', '240.0.0.0', '255.255.255.255'],
    ['unspecified and loopback', '::', '::1'],
    ['IPv4-compatible', '::0.0.0.2', '::255.255.255.255'],
    ['IPv4-mapped', '::ffff:10.0.0.0', '::ffff:10.255.255.255'],
    ['IPv4-mapped in hexadecimal', '::ffff:7f00:0', '::ffff:7fff:ffff'],
    ['IPv4-translated', '::ffff:0:0.0.0.0', '::ffff:0:255.255.255.255'],
    ['NAT64', '64:ff9b::', '64:ff9b::255.255.255.255'],
    ['NAT64 of one network', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
    ['dummy', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
    ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['protocol assignments', '2001:1::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['not assigned', '4000::', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['link local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['link local with its interface', 'fe80::1%lo', 'fe80::1%eth0'],
    ['site local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['no address', 'localhost', '2130706433'],
  ])('%s: %s to %s', (_, first, last) => {
    for (const address of [first, last]) {
      expect(isPublicAddress(address)).toBe(false);
      expect(isReachableAddress(address, networks([]))).toBe(false);
    }
  });
});

it.each([
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.32.0.0',
  '192.0.1.0',
  '198.17.255.255',
  '223.255.255.255',
  '::ffff:93.184.215.14',
  '2000::',
  '2001:200::',
  '2001:db7::',
  '2003::',
  '2606:2800:21f::1',
  '3ffe:ffff::',
  '3fff:1000::',
])('%s lies in the public internet', (address) => {
  expect(isPublicAddress(address)).toBe(true);
  expect(isReachableAddress(address, networks([]))).toBe(true);
});

it('a network that the operator allows is reachable, and not public for that', () => {
  const allowed = networks(['10.0.0.0/8', 'fd00::/8']);
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1']) {
    expect(isReachableAddress(address, allowed)).toBe(true);
    expect(isPublicAddress(address)).toBe(false);
  }
  expect(isReachableAddress('192.168.0.1', allowed)).toBe(false);
  expect(isReachableAddress('::10.1.2.3', allowed)).toBe(false);
});

describe('the networks of a setting', () => {
  it('are those between the commas, and addresses alone', () => {
    const problems: string[] = [];
    const list = readNetworks('NETWORKS', ' 10.0.0.0/8, ,::1,192.0.2.1/32', problems);
    expect(problems).toEqual([]);
    expect(list.rules).toHaveLength(3);
    expect(isReachableAddress('10.255.0.1', list)).toBe(true);
    expect(isReachableAddress('192.168.0.1', list)).toBe(false);
  });

  // `10.0.0.0/` once was every address of the internet.
  it.each([
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/8/9',
    '10.0.0.0/+8',
    '10.0.0.0/0x8',
    '::/129',
    'ten',
  ])('are not %s', (network) => {
    const problems: string[] = [];
    expect(readNetworks('NETWORKS', network, problems).rules).toEqual([]);
    expect(problems).toEqual([`NETWORKS: ${network} is not a network such as 10.0.0.0/8`]);
  });
});
