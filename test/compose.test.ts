// compose.yaml without Docker: what it asks the operator for, which images it takes, and whether its broker accepts
// setup/nats.conf and holds Millrace to the embedded broker's rights.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { connectBroker } from '../platform/broker/nats.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { servicePermissions } from '../platform/engines/broker-permissions.ts';
import { createLog } from '../platform/log.ts';
import { createReadiness } from './harness/servers/broker.ts';
import { startChildServer } from './harness/servers/child-server.ts';
import { root } from './harness/source-tree.ts';

const log = createLog('silent');
const text = (name: string): string => readFileSync(join(root, name), 'utf8');
const compose = text('compose.yaml');
const brokerConf = text('setup/nats.conf');
const directory = mkdtempSync(join(tmpdir(), 'millrace-compose-'));
afterAll(() => rmSync(directory, { recursive: true }));

// A password of digits alone, which nats-server takes for a number where compose.yaml does not quote it.
const password = '1234567890';
const quoted = { NATS_PASSWORD: `"${password}"`, NATS_OPERATOR_PASSWORD: '"4e12"' };

it('has no password of its own: each comes from .env, without which nothing starts', () => {
  const cluster = text('compose.cluster.yaml');
  const asked = [...(compose + cluster).matchAll(/\$\{(\w+)(.*?)\}/g)];
  for (const [, name, rest] of asked) {
    expect(`${name}${rest}`).toBe(`${name}:?set it in .env, see .env.example`);
  }
  const names = new Set(asked.map(([, name]) => name));
  const inExample = [...text('.env.example').matchAll(/^(\w+)=$/gm)].map(([, name]) => name);
  expect(names).toEqual(new Set(inExample));
  for (const document of [compose, cluster]) {
    expect(document.match(/PASSWORD: (?!['"]*\$\{)/g)).toBeNull();
    for (const name of Object.keys(quoted)) expect(document).toContain(`${name}: '"\${${name}:?`);
  }
  expect(text('.gitignore').split('\n')).toContain('.env');
  expect(text('.dockerignore').split('\n')).toContain('.env');
});

it('takes images by their exact version, and publishes no port beyond this machine', () => {
  const images = [
    ...compose.matchAll(/image: (\S+)/g),
    ...text('Dockerfile').matchAll(/^FROM (\S+)/gm),
  ];
  expect(images).toHaveLength(4);
  for (const [, image] of images) expect(image).toMatch(/:\d+\.\d+\.\d+/);
  expect(compose.match(/- "(?!127\.0\.0\.1:)[\d.:]+:\d+"/g)).toBeNull();
  expect(brokerConf).toMatch(/^http: 127\.0\.0\.1:8222$/m);
});

/** The configuration on a port and a directory of this machine; Debian's nats-server knows no sync_interval. */
function localConf(dir: string, port: number): string {
  const path = join(dir, 'nats.conf');
  const local = brokerConf
    .replace('  sync_interval: always\n', '')
    .replace('http: 127.0.0.1:8222', `host: 127.0.0.1\nport: ${port}`)
    .replace('store_dir: /data', `store_dir: "${dir}"`);
  writeFileSync(path, local);
  return path;
}

it('gives the broker a configuration that it accepts, and not without passwords', () => {
  const path = localConf(directory, -1);
  const check = (env: NodeJS.ProcessEnv) =>
    spawnSync('nats-server', ['-t', '-c', path], { env: { PATH: process.env['PATH'], ...env } });
  expect(check(quoted).status).toBe(0);
  expect(check({}).status).not.toBe(0);
});

it('holds Millrace to the rights that the embedded broker gives it', async () => {
  const [, allowed = ''] = /allow: \[\n([^\]]*)\]/.exec(brokerConf) ?? [];
  expect([...allowed.matchAll(/"(.*)"/g)].map(([, subject]) => subject)).toEqual([
    ...servicePermissions.publish.allow,
  ]);
  const [, denied = ''] = /deny: \[\n([^\]]*)\]/.exec(brokerConf) ?? [];
  expect([...denied.matchAll(/"(.*)"/g)].map(([, subject]) => subject)).toEqual([
    ...servicePermissions.publish.deny,
  ]);
  const [, heard = ''] = /subscribe: \{ allow: \[(.*)\] \}/.exec(brokerConf) ?? [];
  expect([...heard.matchAll(/"(.*?)"/g)].map(([, subject]) => subject)).toEqual([
    ...servicePermissions.subscribe.allow,
  ]);

  const server = await startChildServer({
    name: 'compose-broker',
    freePort: -1,
    command: (dir, port) => ['nats-server', '-c', localConf(dir, port)],
    env: { PATH: process.env['PATH'], ...quoted },
    createReadiness,
    urlOf: (port) => `nats://millrace:${password}@127.0.0.1:${port}`,
  });
  await expect(connectBroker(server.url.replace(password, 'guess'), log)).rejects.toThrow(
    'it refuses the user, password, token or credentials',
  );
  const nats = await connectBroker(server.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  const { streams } = await nats.jetstreamManager();
  const attacks = [
    () => streams.purge('EVENTS_0'),
    () => streams.delete('KV_customers'),
    () => streams.deleteMessage('KV_customers', 1),
  ];
  for (const attack of attacks) {
    await expect(attack()).rejects.toThrow('Permissions Violation for Publish');
  }
  await nats.close();
  await server.stop();
});
