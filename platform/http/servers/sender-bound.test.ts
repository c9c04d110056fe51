import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { SenderBound, senderOf } from './sender-bound.ts';

describe('a bound', () => {
  it('leaves room for others when one sender has a quarter, and is given back', () => {
    let refused = 0;
    const bound = new SenderBound(8, () => refused++);
    const open: EventEmitter[] = [];
    const take = (last: number): boolean => {
      const counted = new EventEmitter();
      const isTaken = bound.take(counted, `192.0.2.${last}`);
      if (isTaken) open.push(counted);
      return isTaken;
    };
    expect([1, 1, 1].map(take)).toEqual([true, true, false]);
    expect([2, 2, 3, 3, 4, 4].map(take)).not.toContain(false);
    expect(take(5)).toBe(false);
    expect(refused).toBe(2);
    for (const counted of open.splice(0)) counted.emit('close');
    expect([1, 1, 1].map(take)).toEqual([true, true, false]);
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
