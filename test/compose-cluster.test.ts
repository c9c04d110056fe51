// compose.cluster.yaml without Docker, as a parser of YAML reads it: its parts, their ports, credentials and settings,
// that they name each other, and whether three real brokers become a cluster by its configuration.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectBroker } from '../platform/broker/nats.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { readServerUrl } from '../platform/clickhouse/server-url.ts';
import { splitGroups } from '../platform/clickhouse/store-urls.ts';
import { readConfig } from '../platform/config.ts';
import { createLog } from '../platform/log.ts';
import { processRoles } from '../platform/members/process-roles.ts';
import { ownPort } from './harness/listen.ts';
import { createReadiness } from './harness/servers/broker.ts';
import { type ChildServer, startChildServer } from './harness/servers/child-server.ts';
import { root } from './harness/source-tree.ts';

const text = (name: string): string => readFileSync(join(root, name), 'utf8');

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
}

interface Document {
  services: Record<string, Service>;
  networks: { default: { ipam: { config: { subnet: string }[] } } };
  volumes: Record<string, null>;
}

const document: Document = parse(text('compose.cluster.yaml'), { merge: true });
const services = Object.entries(document.services);
const named = (prefix: string): string[] =>
  Object.keys(document.services).filter((name) => name.startsWith(`${prefix}-`));
const directory = mkdtempSync(join(tmpdir(), 'millrace-cluster-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** The processes of Millrace, without the one that copies keys. */
const processes = services.filter(([, { build, environment }]) => build && environment);

/** As Docker hands it over, with a password in each place. */
function environmentOf({ environment = {} }: Service): Record<string, string> {
  const filled = (value: string): string => value.replaceAll(/\$\{.*?\}/g, 'secret');
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, filled(String(value))]),
  );
}

it('has three brokers, three Keepers, two groups of two, two processes of each role and a proxy', () => {
  expect(named('nats')).toEqual(['nats-1', 'nats-2', 'nats-3']);
  expect(named('keeper')).toEqual(['keeper-1', 'keeper-2', 'keeper-3']);
  const servers = ['clickhouse-1a', 'clickhouse-1b', 'clickhouse-2a', 'clickhouse-2b'];
  expect(named('clickhouse')).toEqual(servers);
  const roles = processes.flatMap(([, service]) =>
    (environmentOf(service)['MILLRACE_ROLES'] ?? '').split(','),
  );
  expect(roles.toSorted()).toEqual([...processRoles, ...processRoles].toSorted());
  expect(Object.keys(document.services)).toContain('proxy');
  expect(services).toHaveLength(3 + 3 + 4 + processes.length + 2);
});

it('takes images by their exact version', () => {
  for (const [name, { image, build }] of services) {
    if (build === undefined) expect(image, name).toMatch(/^[\w./-]+:\d+\.\d+\.\d+/);
    else expect([name, build, image]).toEqual([name, '.', undefined]);
  }
});

it('publishes the proxy alone, to this machine: all other ports are on the inner network', () => {
  const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
  expect(published).toEqual([['proxy', '127.0.0.1:8080:8080']]);
  const settings = new Set(services.flatMap(([, service]) => Object.keys(service)));
  for (const name of ['network_mode', 'networks', 'expose', 'privileged', 'pid', 'extra_hosts'])
    expect(settings).not.toContain(name);
  expect(document.networks).toEqual({
    default: { ipam: { config: [{ subnet: '172.30.7.0/24' }] } },
  });
});

it('gives each server the credentials of its ports, and no password of its own', () => {
  const asked = (name: string): string[] =>
    Object.entries(document.services[name]?.environment ?? {}).flatMap(([, value]) =>
      [...String(value).matchAll(/\$\{(\w+):\?/g)].map(([, secret = '']) => secret),
    );
  for (const name of named('nats')) {
    const secrets = ['NATS_PASSWORD', 'NATS_OPERATOR_PASSWORD', 'NATS_CLUSTER_PASSWORD'];
    expect(new Set(asked(name))).toEqual(new Set(secrets));
  }
  for (const name of named('clickhouse')) {
    const secrets = ['CLICKHOUSE_PASSWORD', 'KEEPER_PASSWORD', 'INTERSERVER_PASSWORD'];
    expect(asked(name)).toEqual(secrets);
  }
  for (const [name] of processes)
    expect(new Set(asked(name))).toEqual(new Set(['NATS_PASSWORD', 'CLICKHOUSE_PASSWORD']));
});

it('gives Millrace settings that it takes, each of them known: a broker of three and two groups of two', () => {
  expect(processes).toHaveLength(4);
  for (const [, service] of processes) {
    const environment = environmentOf(service);
    const known = new Set<PropertyKey>();
    const watched = new Proxy(environment, {
      get(from, name) {
        known.add(name);
        return Reflect.get(from, name);
      },
    });
    const read = readConfig(watched, []);
    if (read.kind === 'refused') throw new Error(read.problems.join());
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    const { config } = read;
    expect(config).toMatchObject({ shards: 4, replicas: 3, clickhouseReplicated: true });
    const [{ subnet = '' } = {}] = document.networks.default.ipam.config;
    expect(environment['MILLRACE_TRUSTED_PROXIES']).toBe(subnet);
    expect(config.trustedProxies.check('172.30.7.9')).toBe(true);
    const groups = splitGroups(config.clickhouseUrl ?? '').map((urls) =>
      urls.map((url) => readServerUrl(url).http.hostname),
    );
    expect(groups).toEqual([
      ['clickhouse-1a', 'clickhouse-1b'],
      ['clickhouse-2a', 'clickhouse-2b'],
    ]);
    const brokers = config.natsUrl?.split(',').map((url) => new URL(url).hostname);
    expect(brokers).toEqual(named('nats'));
  }
});

it('each server and process has its own name, directory and group, and waits for parts that there are', () => {
  for (const name of named('clickhouse')) {
    expect(document.services[name]?.environment).toMatchObject({
      CLICKHOUSE_NAME: name,
      CLICKHOUSE_FUNCTIONS: `/millrace/functions/group_${name.at(-2)}`,
    });
  }
  for (const name of named('nats'))
    expect(document.services[name]?.command?.slice(-2)).toEqual(['-n', name]);
  const ids = named('keeper').map((name) => document.services[name]?.environment);
  expect(ids).toEqual(['1', '2', '3'].map((id) => ({ KEEPER_ID: id })));
  const owned = services.flatMap(([name, { volumes = [] }]) =>
    volumes.flatMap((volume) => (volume.startsWith(`${name}:`) ? [name] : [])),
  );
  expect(owned.toSorted()).toEqual(Object.keys(document.volumes).toSorted());
  expect(owned).toHaveLength(services.length - 2);
  for (const [name, { depends_on = {} }] of services) {
    for (const [part, { condition }] of Object.entries(depends_on)) {
      const other = document.services[part];
      expect(other, `${name} waits for ${part}`).toBeDefined();
      if (condition === 'service_healthy') expect(other).toHaveProperty('healthcheck');
    }
  }
});

it('copies the keys of the first process to every other one', () => {
  const { command = [], volumes = [] } = document.services['keys'] ?? {};
  const others = processes.map(([name]) => name).filter((name) => name !== 'front-1');
  expect(command.at(-1)).toContain(`for to in ${others.join(' ')}; do `);
  expect(volumes).toEqual(['front-1:/data:ro', ...others.map((name) => `${name}:/to/${name}`)]);
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
    const readers = named(file.replace('.xml', ''));
    for (const [, name = ''] of xml.matchAll(/from_env="(\w+)"/g)) {
      for (const reader of readers)
        expect(document.services[reader]?.environment).toHaveProperty(name);
    }
    const hosts = [...xml.matchAll(/<host(?:name)?>(.*?)</g)].map(([, host]) => host);
    expect(hosts).toEqual(named('keeper'));
  }
  const files = services.flatMap(([, { volumes = [] }]) =>
    volumes.flatMap((volume) => /^\.\/(.+?):/.exec(volume)?.[1] ?? []),
  );
  expect(new Set(files).size).toBe(5);
  for (const file of files) expect(text(file)).not.toBe('');
  expect(text('setup/cluster/Caddyfile')).toMatch(/reverse_proxy front-1:8080 front-2:8080 /);
});

it('three brokers become a cluster by it, whose routes ask for the password', async () => {
  const ports = await Promise.all([ownPort(), ownPort(), ownPort()]);
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
