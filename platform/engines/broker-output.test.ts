import { describe, expect, it } from 'vitest';
import { createBrokerLog, readBrokerLine } from './broker-output.ts';

const line = (mark: string, text: string): string =>
  `[28411] 2026/11/23 01:58:37.123456 [${mark}] ${text}`;

describe('a line of nats-server', () => {
  it.each([
    ['INF', 'debug'],
    ['DBG', 'debug'],
    ['TRC', 'debug'],
    ['WRN', 'warn'],
    ['ERR', 'error'],
    ['FTL', 'error'],
  ] as const)('of level %s is logged as %s, without its head', (mark, level) => {
    const text = 'JetStream failed to store a msg: no space left on device';
    expect(readBrokerLine(line(mark, text))).toEqual({ level, text });
  });

  it('is no warning where it is about our own configuration', () => {
    const text = 'Plaintext passwords detected, use nkeys or bcrypt';
    expect(readBrokerLine(line('WRN', text))).toEqual({ level: 'debug', text });
  });

  it('in no known form is an error', () => {
    const text = 'nats-server: open /nowhere: no such file or directory';
    expect(readBrokerLine(text)).toEqual({ level: 'error', text });
  });
});

it('says twenty errors in ten seconds and then that there are more, and all at a lower level', () => {
  let nowMs = 0;
  const said: string[] = [];
  const log = {
    debug: (text: string) => said.push(`debug ${text}`),
    warn: (text: string) => said.push(`warn ${text}`),
    error: (text: string) => said.push(`error ${text}`),
  };
  const write = createBrokerLog(log, () => nowMs);
  for (let turn = 0; turn < 30; turn++) write({ level: 'error', text: 'refused' });
  write({ level: 'debug', text: 'info' });
  expect(said).toEqual([
    ...Array.from({ length: 20 }, () => 'error refused'),
    'warn nats-server says more: the rest of these ten seconds is left out',
    'debug info',
  ]);
  nowMs = 10_000;
  write({ level: 'warn', text: 'slow' });
  expect(said.at(-1)).toBe('warn slow');
});
