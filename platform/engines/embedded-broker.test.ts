// The embedded broker under attack: by another user of the machine, who can reach its port and cannot read its files,
// and by a service that somebody has taken over. Then its restarts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from 'nats';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buckets } from '../broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../broker/nats.ts';
import { eventsStream, eventsSubject, profilesSubject } from '../broker/streams.ts';
import { ensureTopology } from '../broker/topology.ts';
import { brokerConfigurationFile, readBrokerUrl } from './broker-configuration.ts';
import { startEmbeddedBroker } from './embedded-broker.ts';

const MiB = 1_048_576;
const stopGraceMs = 10_000;
let dataDir: string;
let logged: string;
let broker: Awaited<ReturnType<typeof startEmbeddedBroker>>;
const write = (line: string): void => {
  logged += line;
};
const log = pino({ level: 'trace' }, { write });

const start = () => startEmbeddedBroker({ dataDir, binary: 'nats-server', log });

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-broker-'));
  logged = '';
  broker = await start();
});

afterEach(async () => {
  await broker.stop(stopGraceMs);
  rmSync(dataDir, { recursive: true });
});

async function as(user: 'service' | 'operator', work: (nats: NatsConnection) => Promise<void>) {
  const nats = await connectBroker(readBrokerUrl(dataDir, user), log);
  try {
    await work(nats);
  } finally {
    await nats.close();
  }
}

function passwords(): string[] {
  return (['service', 'operator'] as const).map(
    (user) => new URL(readBrokerUrl(dataDir, user)).password,
  );
}

describe('another user of the machine', () => {
  it('gets in by no way but a password: reads no record, makes nobody a super admin', async () => {
    await as('service', async (nats) => {
      await ensureTopology(nats, { eventsMaxBytes: 16 * MiB, shards: 1 });
    });
    const servers = new URL(broker.url).host;
    for (const guess of [
      {},
      { user: 'service' },
      { user: 'service', pass: '' },
      { user: 'operator', pass: 'operator' },
      { user: '$G', pass: '' },
      { token: 'service' },
    ]) {
      const record = JSON.stringify({ schemaVersion: 1, superAdmin: true });
      const attack = async () => {
        const nats = await connect({ servers, reconnect: false, ...guess });
        await nats.jetstream().publish(`$KV.${buckets.customers}.mallory`, record);
      };
      await expect(attack()).rejects.toMatchObject({ code: 'AUTHORIZATION_VIOLATION' });
    }
    await as('service', async (nats) => {
      const manager = await nats.jetstreamManager();
      expect((await manager.streams.info(`KV_${buckets.customers}`)).state.messages).toBe(0);
    });
  });

  it('finds the passwords in no file that it can read, no argument, no environment and no log', async () => {
    const file = brokerConfigurationFile(dataDir);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    await as('service', async (nats) => nats.flush());
    const wrong = broker.url.replace(/:[^:@]+@/, ':guessed@');
    await expect(connectBroker(wrong, log)).rejects.toThrow(
      /^the broker at nats:\/\/127\.0\.0\.1:\d+ cannot be used: it refuses the user, password, token or credentials$/,
    );
    expect(logged).toContain('connected to the broker');
    const own = readFileSync(`/proc/${broker.pid()}/cmdline`, 'latin1');
    const environment = readFileSync(`/proc/${broker.pid()}/environ`, 'latin1');
    for (const text of [logged, own, environment]) {
      expect(text).not.toContain('guessed');
      for (const password of passwords()) expect(text).not.toContain(password);
    }
  });

  it('gains nothing by an old password, since each start makes new ones', async () => {
    const before = passwords();
    await broker.stop(stopGraceMs);
    broker = await start();
    expect(new Set([...before, ...passwords()]).size).toBe(4);
    const { host } = new URL(broker.url);
    await expect(connectBroker(`nats://service:${before[0]}@${host}`, log)).rejects.toThrow(
      'it refuses the user, password, token or credentials',
    );
  });
});

describe('the service’s own user', () => {
  it('does all that the service does, and empties, deletes or overhears no stream', async () => {
    await as('service', async (nats) => {
      await ensureTopology(nats, { eventsMaxBytes: 16 * MiB, shards: 1 });
      await nats.jetstream().publish(eventsSubject(0), 'an event');
      const { streams } = await nats.jetstreamManager();
      const events = eventsStream(0);
      for (const attack of [
        () => streams.purge(events),
        () => streams.delete(events),
        () => streams.deleteMessage(`KV_${buckets.customers}`, 1),
        () => streams.purge(`KV_${buckets.customers}`),
        () => streams.delete(`KV_${buckets.customers}`),
        () => nats.request('$JS.API.ACCOUNT.PURGE.$G', '{}'),
        () => nats.request(`$JS.API.STREAM.RESTORE.${events}`, '{}'),
        () => nats.request(`$JS.API.STREAM.SNAPSHOT.${events}`, '{"deliver_subject":"_INBOX.x"}'),
        () => nats.request('$JS.API.SERVER.REMOVE', '{}'),
      ]) {
        await expect(attack()).rejects.toThrow('Permissions Violation for Publish');
      }
      for (const subject of ['>', '$KV.>', profilesSubject(0), '$JS.>', '*.*']) {
        const overheard = (async () => {
          for await (const _ of nats.subscribe(subject)) return;
        })();
        await expect(overheard).rejects.toThrow('Permissions Violation for Subscription');
      }
      expect((await streams.info(events)).state.messages).toBe(1);
    });
    await as('operator', async (nats) => {
      const { streams } = await nats.jetstreamManager();
      expect(await streams.purge(eventsStream(0))).toMatchObject({ success: true, purged: 1 });
    });
  });

  it('erases a salt', async () => {
    await as('service', async (nats) => {
      await ensureTopology(nats, { eventsMaxBytes: 16 * MiB, shards: 1 });
      const salts = await nats.jetstream().views.kv(buckets.salts, { bindOnly: true });
      const revision = await salts.create('day', 'salt');
      const { streams } = await nats.jetstreamManager();
      expect(await streams.deleteMessage(`KV_${buckets.salts}`, revision, true)).toBe(true);
    });
  });
});

describe('a restart', () => {
  it("that fails is told in the server's own last words", async () => {
    await broker.stop(stopGraceMs);
    const store = join(dirname(brokerConfigurationFile(dataDir)), 'jetstream');
    rmSync(store, { recursive: true });
    writeFileSync(store, 'no directory');
    await expect(start()).rejects.toThrow(
      "nats-server cannot be started: Can't start JetStream: storage directory is not a directory",
    );
  });

  it('after a crash is on the same port with the same password, and connections come back', async () => {
    await as('service', async (nats) => {
      await ensureTopology(nats, { eventsMaxBytes: 16 * MiB, shards: 1 });
      await nats.jetstream().publish(eventsSubject(0), 'an event');
      const killed = broker.pid();
      process.kill(killed ?? 0, 'SIGKILL');
      await expect.poll(() => broker.pid()).not.toBe(killed);
      const messages = async () => {
        const { streams } = await nats.jetstreamManager();
        return (await streams.info(eventsStream(0))).state.messages;
      };
      await expect.poll(() => messages().catch(String)).toBe(1);
      expect(readBrokerUrl(dataDir, 'service')).toBe(broker.url);
    });
  });

  it('ends the server that an older version left without a password, and keeps its events', async () => {
    await broker.stop(stopGraceMs);
    const file = brokerConfigurationFile(dataDir);
    const directory = dirname(file);
    const pidFile = join(directory, 'nats.pid');
    const storeDir = join(directory, 'jetstream');
    const jetstream = { store_dir: storeDir, max_file_store: 2 ** 40 };
    mkdirSync(directory, { recursive: true });
    const old = { host: '127.0.0.1', port: -1, pid_file: pidFile, jetstream };
    writeFileSync(file, JSON.stringify({ ...old, ports_file_dir: directory }), { mode: 0o600 });
    const stale = spawn('nats-server', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(stale, 'exit');
    let text = '';
    stale.stderr.on('data', (data) => {
      text += data;
    });
    await expect.poll(() => text).toContain('Server is ready');
    const [, servers = ''] = /client connections on (\S+)/.exec(text) ?? [];
    const nats = await connect({ servers });
    await ensureTopology(nats, { eventsMaxBytes: 16 * MiB, shards: 1 });
    await nats.jetstream().publish(eventsSubject(0), 'an event');
    await nats.close();

    broker = await start();
    await ended;
    await as('service', async (connection) => {
      const { streams } = await connection.jetstreamManager();
      expect((await streams.info(eventsStream(0))).state.messages).toBe(1);
    });
    await expect(connect({ servers: new URL(broker.url).host })).rejects.toMatchObject({
      code: 'AUTHORIZATION_VIOLATION',
    });
  });
});
