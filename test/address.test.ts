// The caller's address decides the place and is then forgotten: MaxMind's listed networks give the listed country and
// city through HTTP, and no address, nor a client-sent `$ip`, is in any file of the data directory afterwards. Skipped
// where there is no test data.

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JetStreamManager, StoredMsg } from 'nats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiErrorCode, connectBroker } from '../platform/broker/nats.ts';
import { readBrokerUrl } from '../platform/engines/broker-configuration.ts';
import { createLog } from '../platform/log.ts';
import { decodeFrame } from '../proto/wire/frame.ts';
import { batchCreate, eventually, listActivity, newEvent, rows } from './harness/clients/client.ts';
import { identify } from './harness/clients/profile-client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import { hasTestData, testData } from './harness/test-data.ts';

const manyEvents = 30;
const clientSentAddress = '203.0.113.77';

interface Network {
  address: string;
  country: string | undefined;
  city: string | undefined;
}

interface Place {
  country?: { iso_code?: string };
  city?: { names?: { en?: string } };
}

/** The first address of each listed network. */
function listedNetworks(): Network[] {
  const listed: Record<string, Place>[] = JSON.parse(
    readFileSync(testData('geoip', 'GeoIP2-City-Test.json'), 'utf8'),
  );
  return listed.flatMap((entry) =>
    Object.entries(entry).map(([network, place]) => ({
      address: plainAddress(network.slice(0, network.indexOf('/'))),
      country: place.country?.iso_code,
      city: place.city?.names?.en,
    })),
  );
}

/** The list writes IPv4 networks of the IPv6 tree as ::a.b.c.d. */
function plainAddress(text: string): string {
  return /^::\d+\.\d+\.\d+\.\d+$/.test(text) ? text.slice(2) : text;
}

function allFiles(directory: string): { name: string; bytes: Buffer }[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const name = join(entry.parentPath, entry.name);
      return { name, bytes: readFileSync(name) };
    });
}

const noMessageFound = 10_037;

/** Undefined once it was acknowledged: the pipeline may do so after the stream was listed. */
async function messageAt(
  manager: JetStreamManager,
  stream: string,
  seq: number,
): Promise<StoredMsg | undefined> {
  try {
    return await manager.streams.getMessage(stream, { seq });
  } catch (error) {
    if (apiErrorCode(error) === noMessageFound) return undefined;
    throw error;
  }
}

/** Every message of the streams of events and profiles, dead letters included, as text. */
async function brokerContents(dataDir: string): Promise<{ texts: string[]; packed: number }> {
  const connection = await connectBroker(readBrokerUrl(dataDir, 'operator'), createLog('silent'));
  const manager = await connection.jetstreamManager();
  const texts: string[] = [];
  let packed = 0;
  const decoder = new TextDecoder();
  for await (const stream of manager.streams.list()) {
    if (!/^(EVENTS|PROFILES)_/.test(stream.config.name)) continue;
    const { first_seq: first, last_seq: last, messages } = stream.state;
    if (messages === 0) continue;
    for (let seq = first; seq <= last; seq++) {
      const message = await messageAt(manager, stream.config.name, seq);
      if (message === undefined) continue;
      texts.push(decoder.decode(message.data));
      if (stream.config.name === 'EVENTS_DLQ') continue;
      if (message.data[2] !== 0) packed++;
      for (const request of decodeFrame(message.data)) {
        texts.push(JSON.stringify(request.context), decoder.decode(request.body));
      }
    }
  }
  await connection.close();
  return { texts, packed };
}

// Of unpacked frames, every byte in the broker's files is searched; of packed ones, their unpacked bytes.
describe.runIf(hasTestData).each(['off', 'on'])('the address, frames packed: %s', (lz4) => {
  const networks = hasTestData ? listedNetworks() : [];
  const addresses = [...networks.map((network) => network.address), clientSentAddress];
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-address-'));
  const env = {
    MILLRACE_TRUSTED_PROXIES: '127.0.0.0/8',
    MILLRACE_PROXY_HOPS: '1',
    MILLRACE_GEO_DATABASE: testData('geoip', 'GeoIP2-City-Test.mmdb'),
    MILLRACE_LOG_LEVEL: 'debug',
    MILLRACE_FRAME_LZ4: lz4,
    MILLRACE_OPERATOR_TOKEN: 'token-of-the-operator',
  };
  let stack: Stack;
  let log = '';

  beforeAll(async () => {
    // The pipeline is off at first, so that every frame is still in the broker for the search.
    stack = await startStack({ dataDir, env, args: ['--roles', 'ingest,query'] });
  });
  afterAll(async () => {
    await stack.stop();
    await removeFolder(dataDir);
  });

  const forgotten = (text: string): string[] =>
    addresses.filter((address) => text.includes(address) && address.length > 4);

  it('is in no frame and no file while events wait in the broker', async () => {
    for (const [index, { address }] of networks.entries()) {
      const event = {
        ...newEvent({ distinctId: `caller of ${index}` }),
        autoProperties: {
          $ip: { stringValue: clientSentAddress },
          $country: { stringValue: 'client' },
          $kept: { stringValue: 'kept' },
        },
      };
      const headers = { 'x-forwarded-for': address };
      const { eventId, kind, occurTime } = newEvent();
      const nobody = { eventId, kind, occurTime, cookieless: true };
      const answer = await batchCreate(stack, [event, nobody], { headers });
      expect(answer).toMatchObject({ status: 200, body: { accepted: 2 } });
    }
    const hidden = [
      '"autoProperties":{"\\u0024ip":{"stringValue":"A"}}',
      '"auto_properties":{"$\\u0069p":{"string_value":"A"}}',
      '"autoProperties":{"$ip":{"stringValue":"A"}},"customProperties":{"x":{"stringValue":"y"}}',
    ];
    for (const [index, members] of hidden.entries()) {
      const event = JSON.stringify(newEvent({ distinctId: `hidden ${index}` }));
      const body = `{"events":[${event.slice(0, -1)},${members.replace('A', clientSentAddress)}}]}`;
      const response = await fetch(`${stack.baseUrl}/sdk.events.v1.EventsService/BatchCreate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': stack.privateKey },
        body,
      });
      expect(response.status).toBe(200);
    }
    const many = Array.from({ length: manyEvents }, (_, index) => ({
      ...newEvent({ distinctId: `one of many ${index}` }),
      autoProperties: { $ip: { stringValue: clientSentAddress } },
    }));
    expect(await batchCreate(stack, many)).toMatchObject({ status: 200 });
    const traits = { $ip: clientSentAddress, nested: { $ip: clientSentAddress }, kept: 'trait' };
    await identify(stack, { externalId: 'named', traits });
    const { texts: frames, packed } = await brokerContents(stack.dataDir);
    expect(frames.some((text) => text.includes('"kept","\\"trait'))).toBe(true);
    expect(packed).toBe(lz4 === 'on' ? 1 : 0);
    expect(frames.length).toBeGreaterThan(networks.length);
    expect(frames.some((text) => text.includes('"kept"'))).toBe(true);
    expect(frames.flatMap(forgotten)).toEqual([]);
    for (const { name, bytes } of allFiles(dataDir)) {
      expect({ name, found: forgotten(bytes.toString('latin1')) }).toEqual({ name, found: [] });
    }
    log = stack.log();
    await stack.stop();
  });

  it('gives the listed country and city', async () => {
    stack = await startStack({ dataDir, env });
    const { events } = await eventually(
      () => listActivity(stack, { pageSize: 1_000 }),
      (page) => page.events.length === 2 * networks.length + 3 + manyEvents,
    );
    const placeOf = new Map(events.map((event) => [event['distinctId'], event.autoProperties]));
    for (const [index, network] of networks.entries()) {
      const auto = placeOf.get(`caller of ${index}`) ?? {};
      expect({
        network,
        country: auto['$country']?.['stringValue'],
        city: auto['$city']?.['stringValue'],
      }).toEqual({ network, country: network.country, city: network.city });
      expect(auto).not.toHaveProperty('$ip');
      expect(auto['$kept']).toEqual({ stringValue: 'kept' });
    }
  });

  it('is in no file, row, log line or metric after the events are stored', async () => {
    const stored = await rows(stack.clickhouseUrl, 'SELECT * FROM events');
    expect(stored.length).toBe(2 * networks.length + 3 + manyEvents);
    const [nobodies] = await rows<{ ids: number }>(
      stack.clickhouseUrl,
      'SELECT uniqExact(distinct_id) AS ids FROM events WHERE cookieless',
    );
    expect(nobodies?.ids).toBeGreaterThan(networks.length / 2);
    expect(forgotten(JSON.stringify(stored))).toEqual([]);
    expect((await brokerContents(stack.dataDir)).texts.flatMap(forgotten)).toEqual([]);
    for (const { name, bytes } of allFiles(dataDir)) {
      expect({ name, found: forgotten(bytes.toString('latin1')) }).toEqual({ name, found: [] });
    }
    const authorization = `Bearer ${env.MILLRACE_OPERATOR_TOKEN}`;
    const page = await fetch(`${stack.baseUrl}/metrics`, { headers: { authorization } });
    expect(page.status).toBe(200);
    const metrics = await page.text();
    expect(forgotten(log + stack.log() + metrics)).toEqual([]);
  });
});
