// docs/webhooks.md is what receivers copy: its programs run here, as far as this machine has their languages, and its
// example is the catalogue's.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { errorClasses } from '../platform/webhooks/attempt-record.ts';
import { roomEventTypes } from '../platform/webhooks/webhook-record.ts';
import { wellKnownKinds } from '../proto/wire/well-known-kinds.ts';
import { signatureHeaders } from '../webhooks/delivery/sending/signature.ts';
import { examplePayload } from '../webhooks/management/catalogue/event-types.ts';
import { requireValue } from '../webhooks/management/schema/check-value.ts';
import { createContent } from '../webhooks/management/schema/webhook-schema.ts';
import { ownPort } from './harness/listen.ts';
import { root } from './harness/source-tree.ts';

const guide = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
const secret = `whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`;

function programIn(language: string): string {
  const [, program] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(guide) ?? [];
  if (program === undefined) throw new Error(`the guide has nothing in ${language}`);
  return program;
}

interface Language {
  name: string;
  file: string;
  /** Shows that the machine has it. */
  version: readonly [string, ...string[]];
  command(file: string, port: number): readonly [string, ...string[]];
}

const languages: readonly Language[] = [
  {
    name: 'js',
    file: 'receiver.mjs',
    version: [process.execPath, '--version'],
    command: (file) => [process.execPath, file],
  },
  {
    name: 'python',
    file: 'receiver.py',
    version: ['python3', '--version'],
    command: (file) => ['python3', file],
  },
  {
    name: 'go',
    file: 'receiver.go',
    version: ['go', 'version'],
    command: (file) => ['go', 'run', file],
  },
  {
    name: 'php',
    file: 'receiver.php',
    version: ['php', '--version'],
    command: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file],
  },
];

const present = languages.filter(({ version: [program, ...args] }) => {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
});

describe.each(present)('the receiver in $name', (language) => {
  const body = Buffer.from('{"deliveryId":"d1","text":"Zoë – 日本 😀 \\u00e9","empty":{}}');
  const nowS = Math.floor(Date.now() / 1_000);
  const signed = signatureHeaders({ secret, deliveryId: 'd1', payload: body, timestampS: nowS });
  const [old, ahead] = [-301, 360].map((seconds) =>
    signatureHeaders({ secret, deliveryId: 'd1', payload: body, timestampS: nowS + seconds }),
  );
  const without = (name: string) =>
    Object.fromEntries(Object.entries(signed).filter(([other]) => other !== name));

  it('takes what is genuine and nothing else', async () => {
    const url = await start(language);
    const answer = async (headers: Record<string, string> = signed, sent: Buffer = body) => {
      const request = { method: 'POST', headers: { ...headers, 'X-Service-Delivery': 'd1' } };
      return (await fetch(url, { ...request, body: sent })).status;
    };
    expect(await answer()).toBe(204);
    const several = `v2,x v1,AAAA ${signed['webhook-signature']}`;
    expect(await answer({ ...signed, 'webhook-signature': several })).toBe(204);
    expect(await answer(signed, Buffer.from(`${body} `))).toBe(401);
    expect(await answer(old)).toBe(401);
    expect(await answer(ahead)).toBe(401);
    expect(await answer({ ...signed, 'webhook-id': 'd2' })).toBe(401);
    expect(await answer({ ...signed, 'webhook-timestamp': String(nowS - 1) })).toBe(401);
    expect(await answer({ ...signed, 'webhook-timestamp': 'now' })).toBe(401);
    expect(await answer({ ...signed, 'webhook-signature': 'v1,' })).toBe(401);
    expect(await answer({ ...signed, 'X-Service-Signature': `sha256=${'0'.repeat(64)}` })).toBe(
      401,
    );
    for (const name of Object.keys(signed)) expect(await answer(without(name))).toBe(401);
  });
});

it('Node and Python are always there to be tried', () => {
  expect(present.map(({ name }) => name)).toEqual(expect.arrayContaining(['js', 'python']));
});

it('the example is the catalogue’s', () => {
  expect(JSON.parse(programIn('json'))).toEqual(examplePayload('message_sent'));
});

it('the subscription is one that the interface takes', () => {
  const subscription: unknown = JSON.parse(programIn('json subscription'));
  const content = { name: 'a', endpoint_url: 'https://a.example/', subscriptions: [subscription] };
  expect(() => requireValue(createContent, content, 'content')).not.toThrow();
});

it('the table has the type of every kind', () => {
  expect(guide).toMatch(/^\| `event` \|[^|]*\| `kind` \|/m);
});

it.each(roomEventTypes)('the table has %s with its ids', (eventType) => {
  const [, always = '', maybe = ''] =
    new RegExp(`^\\| \`${eventType}\` \\|[^|]*\\|([^|]*)\\|([^|]*)\\|$`, 'm').exec(guide) ?? [];
  const rows = wellKnownKinds.get(eventType) ?? [];
  const names = (isRequired: boolean) =>
    rows.filter((row) => row.isRequired === isRequired).map(({ camelName }) => camelName);
  const listed = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(listed(always).sort()).toEqual(names(true).sort());
  expect(listed(maybe).sort()).toEqual(names(false).sort());
});

it.each(errorClasses)('the table of errors has %s', (error) => {
  expect(guide).toMatch(new RegExp(`^\\|.*\`${error}\`.*\\|$`, 'm'));
});

/** Starts a program of the guide; resolves with its URL once it listens. */
async function start(language: Language): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-guide-'));
  const file = join(folder, language.file);
  writeFileSync(file, programIn(language.name));
  const port = await ownPort();
  const [program, ...args] = language.command(file, port);
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true });
  onTestFinished(() => {
    end(child);
    rmSync(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}/`;
  const answers = () => fetch(url, { method: 'POST', body: '{}' }).then(({ status }) => status);
  await expect.poll(() => answers().catch(() => 0), { timeout: 300_000 }).toBe(401);
  return url;
}

/** With what it started: Go runs a program of its own making. */
function end(child: ChildProcess): void {
  if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
}
