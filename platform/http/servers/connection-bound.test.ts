import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ConnectionBound, senderOf } from './connection-bound.ts';

function from(address: string): Socket {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: address });
  return socket;
}

describe('the bound of connections', () => {
  it('leaves room for others when one sender has a quarter, and is given back', () => {
    let refused = 0;
    const bound = new ConnectionBound(8, () => refused++);
    const greedy = [from('192.0.2.1'), from('192.0.2.1')];
    expect(greedy.map((socket) => bound.take(socket))).toEqual([true, true]);
    expect(bound.take(from('192.0.2.1'))).toBe(false);
    const others = [2, 2, 3, 3, 4, 4].map((last) => from(`192.0.2.${last}`));
    expect(others.every((socket) => bound.take(socket))).toBe(true);
    const late = from('192.0.2.5');
    expect(bound.take(late)).toBe(false);
    expect(late.destroyed).toBe(true);
    expect(refused).toBe(2);
    for (const socket of [...greedy, ...others]) EventEmitter.prototype.emit.call(socket, 'close');
    expect(bound.take(from('192.0.2.1'))).toBe(true);
    expect(bound.take(from('192.0.2.1'))).toBe(true);
    expect(bound.take(from('192.0.2.1'))).toBe(false);
  });
});

it('takes 64 bits of an IPv6 address for one sender', () => {
  for (const [address, sender] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8::7:0:0:0:1', '2001:db8:0:7'],
    ['2001:db8:0:7::', '2001:db8:0:7'],
    ['2001::5:0:0:0:0:1', '2001:0:5:0'],
    ['::1', '0:0:0:0'],
  ] as const) {
    expect([address, senderOf(address)]).toEqual([address, sender]);
  }
});
