// Flags are read and refused before anything is sent.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readPlan } from './plan.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-load-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const kept = { publicKey: 'pub_kept', privateKey: 'prv_kept' };
writeFileSync(join(dataDir, 'demo.json'), JSON.stringify(kept));
const here = ['--data', dataDir];
const remote = 'https://events.example.org';

describe('without flags', () => {
  it('the plan is ten seconds as fast as the demo project answers', () => {
    expect(readPlan(here)).toEqual({
      target: { baseUrl: 'http://127.0.0.1:8080', ...kept },
      ...{ size: 'medium', batch: 100, connections: 16, seconds: 10 },
      ...{ eventsPerSecond: 0, find: undefined, json: false },
    });
  });

  it('a search begins at a thousand events a second, in shorter steps', () => {
    const bounds = { p99Ms: 100, listedMs: 5_000 };
    expect(readPlan([...here, '--find'])).toMatchObject({
      ...{ eventsPerSecond: 1_000, seconds: 5, connections: 16, find: bounds },
    });
  });
});

describe('a rate', () => {
  it('uses no more connections than it has requests a second: none idles until it times out', () => {
    expect(readPlan([...here, '--rate', '500'])).toMatchObject({ batch: 100, connections: 5 });
  });

  it('below the usual batch makes the batch smaller', () => {
    expect(readPlan([...here, '--rate', '7'])).toMatchObject({ batch: 7, connections: 1 });
  });
});

describe('keys', () => {
  it('that npm start kept go to this machine only', () => {
    expect(() => readPlan([...here, '--url', remote, '--yes'])).toThrow(
      'https://events.example.org needs --key PUB, a public key of its own',
    );
  });

  it('of the flags never meet a kept one of another project', () => {
    const { target } = readPlan([...here, '--key', 'pub_mine']);
    expect(target).toMatchObject({ publicKey: 'pub_mine', privateKey: '' });
    const both = readPlan([...here, '--key', 'pub_mine', '--private-key', 'prv_mine']);
    expect(both.target).toMatchObject({ publicKey: 'pub_mine', privateKey: 'prv_mine' });
  });
});

describe('an address elsewhere', () => {
  const flags = ['--url', remote, '--key', 'pub_x'];

  it.each([[remote], ['http://10.0.0.7:8080'], ['http://localhost.example.org']])(
    '%s asks for --yes',
    (url) => {
      const args = ['--url', url, '--key', 'pub_x'];
      expect(() => readPlan(args)).toThrow(/is not this machine.*add --yes/);
      expect(readPlan([...args, '--yes']).target.baseUrl).toBe(url);
    },
  );

  it('gets the public key alone', () => {
    expect(readPlan([...flags, ...here, '--yes']).target.privateKey).toBe('');
  });

  it.each([['http://localhost:9000'], ['http://127.0.0.2'], ['http://[::1]:8080']])(
    '%s is this machine',
    (url) => {
      expect(readPlan(['--url', url, '--key', 'pub_x']).target.baseUrl).toBe(url);
    },
  );
});

it.each([
  [['--rate', '0'], '--rate must be a whole number from 1 to 10,000,000'],
  [['--batch', '1001'], '--batch must be a whole number from 1 to 1,000'],
  [['--connections', 'many'], '--connections must be a whole number from 1 to 1,000'],
  [['--seconds', '3601'], '--seconds must be a whole number from 1 to 3,600'],
  [['--size', 'huge'], '--size must be small, medium, large'],
  [
    ['--rate', '50', '--batch', '60'],
    '--rate counts events: 50 a second is less than one request of --batch 60',
  ],
  [['--p99-ms', '5'], '--p99-ms and --listed-ms are the bounds of --find'],
  [
    ['--connections', '1000', '--batch', '1000'],
    '1,000 connections with 1,000 medium events each need more than 256 MiB: lower one of them',
  ],
  [['--private-key', 'prv_x'], '--private-key needs --key, the public key of the same project'],
  [['--key', 'prv_x'], '--key takes a public key: a private one belongs to --private-key'],
  [['--url', 'ftp://x'], 'ftp://x is not an http or https URL'],
])('%j is refused', (flags, sentence) => {
  expect(() => readPlan([...here, ...flags])).toThrow(sentence);
});

it('help is the usage, and an unknown flag is named with it', () => {
  expect(() => readPlan(['--help'])).toThrow(/^usage: npm run load/);
  expect(() => readPlan(['--frob'])).toThrow(/^Unknown option '--frob'.*usage: npm run load/);
});
