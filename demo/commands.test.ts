// The demo's command as a user runs it, against a real instance.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../test/harness/remove-folder.ts';
import { type Stack, startStack } from '../test/harness/servers/stack.ts';
import { type Client, createClient, type Profile } from './sending/client.ts';
import { readVisitor, waitUntilListed } from './sending/readable.ts';
import type { Event } from './visits/event.ts';

const built = join(import.meta.dirname, '../dist/demo');
const directory = mkdtempSync(join(tmpdir(), 'millrace-demo-'));
afterAll(() => removeFolder(directory));

interface Finished {
  code: number | null;
  out: string;
  err: string;
}

function run(...args: string[]): Promise<Finished> {
  const child = spawn(process.execPath, [join(built, 'play.js'), ...args], {
    cwd: directory,
  });
  const finished: Finished = { code: null, out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    finished.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    finished.err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ...finished, code }));
  });
}

describe('without an instance', () => {
  it.each([
    [[], /^demo: no keys in data\/demo\.json: run `npm start` first/],
    [['--events', 'many'], /^demo: no keys/],
    [['--wrong'], /^demo: Unknown option '--wrong'.*usage: npm run demo/],
    [['--key', 'pub_x', '--private-key', 'prv_x', '--events', '0'], /^demo: --events must be/],
    [
      ['--key', 'pub_x', '--private-key', 'prv_x', '--url', 'http://127.0.0.1:1'],
      /^demo: no Millrace answers at http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)/,
    ],
    [['--key', 'pub_x', '--private-key', 'prv_x', '--url', 'ftp://x'], /^demo: ftp:\/\/x is not/],
  ])('%j says what is wrong in one sentence', async (args, sentence) => {
    const { code, out, err } = await run(...args);
    expect(err).toMatch(sentence);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });
});

describe('with an instance', () => {
  let stack: Stack;
  let client: Client;
  let flags: string[];
  beforeAll(async () => {
    stack = await startStack();
    client = createClient({ baseUrl: stack.baseUrl, connections: 1 });
    flags = ['--url', stack.baseUrl, '--data', stack.dataDir];
  });
  afterAll(async () => {
    await client?.close();
    await stack?.stop();
  });

  it.each([11, 12, 13, 14, 15, 16])(
    'the demo stores its visits and shows one whole profile, from seed %i',
    async (seed) => {
      const args = [...flags, '--events', '600', '--seed', String(seed)];
      const { code, out, err } = await run(...args);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(
        /[\d,]+ events of [\d,]+ visits acknowledged in [\d.]+ s: [\d,]+ events\/s/,
      );
      expect(out).toMatch(/the visitor below could be read whole [\d.]+ s after the last/);
      expect(out).toMatch(/Profile [0-9a-f]{32}\n {2}name +[A-Z][a-z]+ [A-Z][a-z]+\n/);
      expect(out).toMatch(/ {2}place +\S+/);
      const [, distinctId] = out.match(/ {2}distinct id +(\S+)\n/) ?? [];
      const filter = { distinctId, pageSize: 1_000 };
      const stored = await client.listEvents(filter, stack.privateKey);
      expect(out).toMatch(new RegExp(` {2}events +${stored.length}\n`));
      const newest = stored[0]?.occurTime.slice(0, 19).replace('T', ' ');
      expect(out).toContain(`  last seen    ${newest}\n`);
      expect(out).toMatch(new RegExp(`Its latest events\n {2}${newest} {2}\\w+`));
    },
  );

  it('the demo of the same seed again shows the visitor, whose events are stored already', async () => {
    const args = [...flags, '--events', '600', '--seed', '17'];
    const [first, again] = [await run(...args), await run(...args)];
    expect({ code: again.code, err: again.err }).toEqual({ code: 0, err: '' });
    const shown = (out: string) => out.match(/Profile [0-9a-f]{32}\n.*? {2}events +\d+\n/s)?.[0];
    expect(shown(again.out)).toBe(shown(first.out));
    expect(shown(first.out)).toMatch(/events/);
  });

  it('a visitor is shown once all that was sent is listed and in the sums', async () => {
    const [first, second] = [shopView(0), shopView(1_000)];
    const { distinctId } = first;
    await client.sendEvents([first], stack.publicKey);
    await waitUntilListed(client, first, stack.privateKey);
    let lists = 0;
    let profiles = 0;
    /** Of the moment when the second event was not yet sent: its insert shows events first, sums a moment later. */
    let early: Profile | undefined;
    const gated: Client = {
      ...client,
      async listPage(filter, key) {
        const page = await client.listPage(filter, key);
        if (lists++ === 0) {
          early = await client.getProfile(page.events[0]?.profileId ?? '', key);
          await client.sendEvents([second], stack.publicKey);
          await waitUntilListed(client, second, key);
        }
        return page;
      },
      getProfile: async (id, key) =>
        (profiles++ === 0 && early) || (await client.getProfile(id, key)),
    };
    const by = { kind: 'ids', ids: [first.eventId, second.eventId] } as const;
    const sent = { distinctId, events: 2, by };
    const { profile, latest } = await readVisitor(gated, sent, 10, stack.privateKey);
    expect(early?.activity).toMatchObject({ totalEvents: '1' });
    expect(lists).toBeGreaterThanOrEqual(3);
    expect(profiles).toBeGreaterThanOrEqual(2);
    expect(profile.activity).toMatchObject({ totalEvents: '2', pageviews: '2' });
    expect(latest.map(({ eventId }) => eventId)).toEqual([first.eventId, second.eventId]);
  });
});

/** A view of one visitor, so long ago. */
function shopView(agoMs: number): Event {
  return {
    ...{ eventId: randomUUID(), sessionId: randomUUID(), kind: 'page_view', distinctId: 'shown' },
    occurTime: new Date(Date.now() - agoMs).toISOString(),
    autoProperties: {},
    customProperties: {},
  };
}
