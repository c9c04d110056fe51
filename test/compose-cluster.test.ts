// compose.cluster.yaml without Docker: which settings it gives to Millrace, that its parts name each other, and whether
// three real brokers become a cluster by its configuration.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { connectBroker } from '../platform/broker/nats.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { readServerUrl } from '../platform/clickhouse/server-url.ts';
import { splitGroups } from '../platform/clickhouse/store-urls.ts';
import { readConfig } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import { createReadiness } from './harness/servers/broker.ts';
import { type ChildServer, startChildServer } from './harness/servers/child-server.ts';
import { freePorts } from './harness/servers/cluster/broker-cluster.ts';
import { root } from './harness/source-tree.ts';

const text = (name: string): string => readFileSync(join(root, name), 'utf8');
const compose = text('compose.cluster.yaml');
const [definitions = '', servicesOn = ''] = compose.split(/^services:$/m);
const [serviceText = '', after = ''] = servicesOn.split(/^networks:$/m);
const services = [...serviceText.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name = '']) => name);
const directory = mkdtempSync(join(tmpdir(), 'millrace-cluster-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The lines of one mapping of scalars, whose folded texts become one line. */
function mappingAfter(head: RegExp): Record<string, string> {
  const [, block = ''] = head.exec(compose) ?? [];
  const lines = block.replaceAll(/ >-\n((?: {4}.*\n)+)/g, (_, folded: string) => {
    return ` ${folded.trim().replaceAll(/\s+/g, ' ')}\n`;
  });
  const found = [...lines.matchAll(/^ {2}(\w+): "?(.*?)"?$/gm)];
  return Object.fromEntries(found.map(([, name, value]) => [name, filled(value ?? '')]));
}

const filled = (value: string): string => value.replaceAll(/\$\{.*?\}/g, 'secret');

it('takes images by their exact version, and publishes the proxy alone, to this machine', () => {
  const images = [...compose.matchAll(/image: (\S+)/g)].map(([, image]) => image);
  expect(images).toHaveLength(4);
  for (const image of images) expect(image).toMatch(/:\d+\.\d+\.\d+/);
  expect([...compose.matchAll(/- "([\d.:]+:\d+)"/g)].map(([, port]) => port)).toEqual([
    '127.0.0.1:8080:8080',
  ]);
  expect(compose.match(/ports:/g)).toHaveLength(1);
});

it('gives Millrace settings that it takes: a broker of three and two groups of two', () => {
  const env = mappingAfter(/^x-millrace-environment: &\S+\n((?: {2}.*\n)+)/m);
  for (const [, roles = ''] of compose.matchAll(/MILLRACE_ROLES: (\S+)/g)) {
    const read = readConfig({ ...env, MILLRACE_ROLES: roles }, []);
    if (read.kind === 'refused') throw new Error(read.problems.join());
    const { config } = read;
    expect(config).toMatchObject({ shards: 4, replicas: 3, clickhouseReplicated: true });
    expect(config.trustedProxies.check('172.30.7.9')).toBe(true);
    const groups = splitGroups(config.clickhouseUrl ?? '').map((urls) =>
      urls.map((url) => readServerUrl(url).http.hostname),
    );
    expect(groups).toEqual([
      ['clickhouse-1a', 'clickhouse-1b'],
      ['clickhouse-2a', 'clickhouse-2b'],
    ]);
    const brokers = config.natsUrl?.split(',').map((url) => new URL(url).hostname);
    expect([...groups.flat(), ...(brokers ?? [])]).toEqual(
      services.filter((name) => /^(clickhouse|nats)-/.test(name)).toSorted(),
    );
  }
  const roles = [...compose.matchAll(/MILLRACE_ROLES: (\S+)/g)].flatMap(([, list = '']) =>
    list.split(','),
  );
  expect(roles.toSorted()).toEqual(['control', 'ingest', 'pipeline', 'query', 'webhooks']);
  expect(after).toContain('subnet: 172.30.7.0/24');
});

it('each server has its own name, directory and group', () => {
  for (const name of services.filter((one) => one.startsWith('clickhouse-'))) {
    const [, own = ''] = new RegExp(`^  ${name}:\n((?: {4,}.*\n)+)`, 'm').exec(serviceText) ?? [];
    expect(own).toContain(`CLICKHOUSE_NAME: ${name}\n`);
    expect(own).toContain(`CLICKHOUSE_FUNCTIONS: /millrace/functions/group_${name.at(-2)}\n`);
  }
  for (const [, volume = ''] of serviceText.matchAll(/"([a-z][\w-]*):\/[^"]*"/g)) {
    expect(after).toContain(`\n  ${volume}:\n`);
  }
  const ids = [...serviceText.matchAll(/KEEPER_ID: "(\d)"/g)].map(([, id]) => id);
  expect(ids).toEqual(['1', '2', '3']);
});

it('what the servers read is well formed, and all that it asks for is set', () => {
  for (const file of ['keeper.xml', 'clickhouse.xml']) {
    const xml = text(`setup/cluster/${file}`).replace(/<!--.*?-->/s, '');
    const open: string[] = [];
    for (const [, end, name = '', , isEmpty] of xml.matchAll(/<(\/?)(\w+)( [^>/]*)?(\/?)>/g)) {
      if (end) expect(open.pop()).toBe(name);
      else if (!isEmpty) open.push(name);
    }
    expect(open).toEqual([]);
    for (const [, name] of xml.matchAll(/from_env="(\w+)"/g))
      expect(compose).toContain(`${name}: `);
    const hosts = [...xml.matchAll(/<host(?:name)?>(.*?)</g)].map(([, host]) => host);
    expect(hosts).toEqual(services.filter((name) => name.startsWith('keeper-')));
  }
  for (const [, file = ''] of definitions.matchAll(/ \.\/(\S+?):\//g))
    expect(text(file)).not.toBe('');
  expect(text('setup/cluster/Caddyfile')).toMatch(/reverse_proxy front-1:8080 front-2:8080 /);
});

it('three brokers become a cluster by it, whose routes ask for the password', async () => {
  const ports = await freePorts(3);
  const routes = (password: string) =>
    ports.map((port) => `"nats-route://millrace:${password}@127.0.0.1:${port}"`);
  const start = (place: number, password = 'between'): Promise<ChildServer> => {
    const [one = '', two = '', three = ''] = routes(password);
    return startChildServer({
      name: 'cluster-broker',
      freePort: -1,
      command: (dir, port) => [
        'nats-server',
        '-c',
        localConf(dir, port, ports[place] ?? 0),
        '-n',
        `nats-${place + 1}`,
      ],
      env: {
        ...{ PATH: process.env['PATH'], NATS_PASSWORD: '"1234"', NATS_OPERATOR_PASSWORD: '"4e12"' },
        ...{ NATS_CLUSTER_PASSWORD: `"${password}"` },
        ...{ NATS_ROUTE_1: one, NATS_ROUTE_2: two, NATS_ROUTE_3: three },
      },
      createReadiness,
      urlOf: (port) => `nats://millrace:1234@127.0.0.1:${port}`,
    });
  };
  // One that does not know the password is no server of the cluster: the two others make the streams.
  const servers = await Promise.all([start(0), start(1), start(2, 'guessed')]);
  const log = createLog('silent');
  const nats = await connectBroker(servers[0]?.url ?? '', log);
  const peers = () => [...(nats.info?.connect_urls ?? [])];
  await expect.poll(() => peers().length).toBe(2);
  await servers[2]?.stop();
  servers[2] = await start(2);
  await expect.poll(() => peers().length).toBe(3);
  const options = { eventsMaxBytes: 16 * 1_048_576, shards: 1, replicas: 3 };
  await expect.poll(() => ensureTopology(nats, options).then(() => 'made', String)).toBe('made');
  await nats.close();
  await Promise.all(servers.map((server) => server.stop()));
});

/** As the containers have both files, on ports and a directory of this machine; Debian's knows no sync_interval. */
function localConf(dir: string, port: number, routePort: number): string {
  mkdirSync(dir, { recursive: true });
  const own = text('setup/nats.conf')
    .replace('  sync_interval: always\n', '')
    .replace('http: 127.0.0.1:8222', `host: 127.0.0.1\nport: ${port}`)
    .replace('store_dir: /data', `store_dir: "${dir}"`);
  writeFileSync(join(dir, 'millrace.conf'), own);
  const cluster = text('setup/cluster/nats.conf').replace('0.0.0.0:6222', `127.0.0.1:${routePort}`);
  writeFileSync(join(dir, 'cluster.conf'), cluster);
  return join(dir, 'cluster.conf');
}
