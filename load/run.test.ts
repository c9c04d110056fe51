// `npm run load` as a user or a script runs it, against a real instance.

import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../demo/sending/client.ts';
import { removeFolder } from '../test/harness/remove-folder.ts';
import { type Stack, startStack } from '../test/harness/servers/stack.ts';

const built = join(import.meta.dirname, '../dist/load/run.js');
const directory = mkdtempSync(join(tmpdir(), 'millrace-load-'));
afterAll(() => removeFolder(directory));

interface Finished {
  code: number | null;
  out: string;
  err: string;
}

/** `onOut` sees each piece of the command's output; it may signal the process. */
function run(
  args: readonly string[],
  onOut: (text: string, kill: (signal: NodeJS.Signals) => void) => void = () => {},
): Promise<Finished> {
  const child = spawn(process.execPath, [built, ...args], { cwd: directory });
  const finished: Finished = { code: null, out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    finished.out += chunk;
    onOut(String(chunk), (signal) => child.kill(signal));
  });
  child.stderr.on('data', (chunk) => {
    finished.err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...finished, code }));
  });
}

let stack: Stack;
let keys: string[];
beforeAll(async () => {
  // One test goes beyond the limit of events, the others stay below.
  const events = { MILLRACE_EVENTS_PER_SECOND: '3000', MILLRACE_EVENTS_BURST: '3000' };
  const env = { ...events, MILLRACE_READS_PER_SECOND: '0' };
  stack = await startStack({ env });
  keys = ['--url', stack.baseUrl, '--data', stack.dataDir];
});
afterAll(() => stack?.stop());

describe('one sentence and code 1', () => {
  it.each([
    [['--key', 'pub_wrong'], /^load: the instance answered 401 unauthenticated: .*key/],
    [
      ['--private-key', 'prv_wrong'],
      /^load: with the private key the instance answered 401 unauth/,
    ],
  ])('for %j', async (flags, sentence) => {
    const { code, out, err } = await run([...keys, '--key', stack.publicKey, ...flags]);
    expect(err).toMatch(sentence);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });
});

describe('a run', () => {
  it('of two seconds stores all that was acknowledged, once, and says how soon', async () => {
    const flags = [
      '--seconds',
      '2',
      '--rate',
      '2000',
      '--batch',
      '20',
      '--size',
      'small',
      '--json',
    ];
    const { code, out, err } = await run([...keys, ...flags]);
    const report = JSON.parse(out);
    const [step] = report.steps;
    expect(step).toMatchObject({
      ...{ rate: 2_000, connections: 16, latencyFrom: 'due', refusal: null, unanswered: 0 },
      answers: { 200: step.acknowledged / 20 },
    });
    // A machine that is busy sends less than it should, and says so.
    expect(step.acknowledged + 20 * step.unsent).toBe(4_000);
    expect(report).toMatchObject({
      ...{ acknowledged: step.acknowledged, unknown: 0, ok: true },
      stored: { kind: 'counted', events: step.acknowledged, repeated: 0, fits: true },
    });
    const { latency, listed, lag, generator } = step;
    expect(lag.medianMs).toBeLessThanOrEqual(lag.highestMs);
    expect(latency.p50Ms).toBeGreaterThan(0);
    expect(latency.p50Ms).toBeLessThanOrEqual(latency.p90Ms);
    expect(latency.p99Ms).toBeLessThanOrEqual(latency.highestMs);
    expect(listed.marks).toBeGreaterThan(0);
    expect(listed.missing).toBe(0);
    expect(generator.usPerRequest).toBeGreaterThan(0);
    expect(err).toContain('the events stay in the project');
    expect(code).toBe(0);
  });

  it('without a private key says that nothing was counted', async () => {
    const flags = ['--key', stack.publicKey, '--seconds', '1', '--rate', '100'];
    const { code, out } = await run([...keys, ...flags]);
    expect(out).toContain('stored: not counted, that needs --private-key');
    expect(out).not.toContain('listed');
    expect(out).not.toContain('lag');
    expect(code).toBe(0);
  });

  it('warns where the project has events of its own', async () => {
    const client = createClient({ baseUrl: stack.baseUrl, connections: 1 });
    const event = { eventId: '0f0e0d0c-0b0a-4908-8706-050403020100', kind: 'signup' };
    const named = { ...event, distinctId: 'ada', sessionId: event.eventId };
    // Before all events of the runs above, which are more than a page of List.
    const occurTime = new Date(Date.now() - 86_400_000).toISOString();
    const properties = { autoProperties: {}, customProperties: {} };
    await client.sendEvents([{ ...named, ...properties, occurTime }], stack.publicKey);
    const isListed = async (): Promise<number> =>
      (await client.listEvents({ kinds: ['signup'] }, stack.privateKey)).length;
    await expect.poll(isListed).toBe(1);
    await client.close();
    const { out } = await run([...keys, '--seconds', '1', '--rate', '10']);
    expect(out).toContain('WARNING: the project has other events');
    expect(out).toContain('stored: 10 of 10 acknowledged events: all of them, once');
  });

  it('beyond the limit of its key shows the refusal, ends with code 1, and loses nothing', async () => {
    // The first requests alone are 16,000 events.
    const flags = ['--seconds', '1', '--batch', '1000', '--size', 'small'];
    const { code, out } = await run([...keys, ...flags]);
    expect(out).toMatch(/answers: .*with 429/);
    expect(out).toContain('the first refusal: 429 {"code":"resource_exhausted"');
    expect(out).toMatch(/stored: ([\d,]+) of \1 acknowledged events: all of them, once/);
    expect(code).toBe(1);
  });

  it('--find names the highest rate that has held when Ctrl-C ends it', async () => {
    const bounds = ['--p99-ms', '60000', '--listed-ms', '60000'];
    const flags = ['--find', '--seconds', '1', '--rate', '100', ...bounds];
    const { code, out } = await run([...keys, ...flags], (text, kill) => {
      if (text.includes('; holds')) kill('SIGINT');
    });
    expect(out).toMatch(/ 100 events\/s: p99 [\d.]+ ms, listed within [\d.]+ s; holds\n/);
    expect(out).toContain('interrupted\nhighest rate that held: 100 events/s\n');
    expect(code).toBe(130);
  });

  it('ends on Ctrl-C with what it has', async () => {
    let stopped = false;
    const { code, out } = await run(
      [...keys, '--seconds', '600', '--rate', '500'],
      (text, kill) => {
        if (stopped || !text.includes('events/s, for')) return;
        stopped = true;
        // The terminal and npm both pass it on.
        for (const signal of ['SIGINT', 'SIGINT'] as const) kill(signal);
      },
    );
    expect(out).toMatch(/\ninterrupted\n[\d,]+ events\/s acknowledged/);
    expect(out).toContain('stored: not counted, interrupted');
    expect(code).toBe(130);
  });

  it('ends where the instance dies in the middle', async () => {
    const { code, out } = await run([...keys, '--seconds', '10', '--rate', '2000'], (text) => {
      if (text.startsWith('10%')) stack.kill9('service');
    });
    expect(out).toMatch(/the instance is gone: \w+\n[\d,]+ events\/s acknowledged/);
    expect(out).toContain('stored: not counted, nobody answers');
    expect(code).toBe(1);
  });
});
