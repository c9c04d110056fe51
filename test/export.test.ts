// Exports of the built product: who may take them, that a project which is exported and imported into another one is
// there again: events with their types, visits, persons and traits; and kept files, fetched in pieces.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './harness/clients/client.ts';
import { type Customer, newCustomer } from './harness/clients/new-customer.ts';
import { startImport } from './harness/history/run-command.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import { type Receiver, startReceiver } from './harness/webhooks/receiver.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-exports-'));
let stack: Stack;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  stack = await startStack({ env: { MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8' } });
});
afterAll(async () => {
  await stack.stop();
  await receiver.close();
  await removeFolder(directory);
});

const projects = 'dashboard.projects.v1.ProjectsService';

async function keyOf(customer: Customer, scope?: string): Promise<string> {
  const asked = { kind: 'API_KEY_KIND_PRIVATE', displayName: 'a test', ...(scope && { scope }) };
  const { body } = await customer.call(`${projects}/CreateApiKey`, asked);
  return String(body['key']);
}

function take(key: string, params: Record<string, string> = {}): Promise<Response> {
  const url = `${stack.baseUrl}/export?${new URLSearchParams(params)}`;
  return fetch(url, { headers: { 'x-api-key': key } });
}

async function linesOf(key: string, params: Record<string, string> = {}) {
  const text = await (await take(key, params)).text();
  const lines: Record<string, unknown>[] = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return lines;
}

async function post(key: string, method: string, message: object): Promise<void> {
  const response = await fetch(`${stack.baseUrl}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(message),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

const uuid = (n: number): string => `0195612a-7c10-4a31-9c55-${String(n).padStart(12, '0')}`;
const startMs = Date.UTC(2024, 0, 30);

/** Four persons, two of them with an anonymous past; a visit is ten events. */
function sentEvent(n: number) {
  const ids = ['ada', 'anon-ada', 'ben', 'anon-ben', 'carl', 'anon-stranger'];
  return {
    eventId: uuid(n),
    kind: ['page_view', 'purchase', 'signed_up'][n % 3],
    distinctId: ids[Math.floor(n / 10) % ids.length],
    sessionId: uuid(1_000_000 + Math.floor(n / 10)),
    occurTime: new Date(startMs + n * 3_600_000 + 7).toISOString(),
    autoProperties: {
      $url: { stringValue: `https://shop.example/${n}?utm_source=news` },
      $browser: { stringValue: 'Firefox' },
      $country: { stringValue: 'DE' },
    },
    customProperties: {
      amount: { doubleValue: n + 1 },
      currency: { stringValue: 'EUR' },
      count: { intValue: '9007199254740993' },
      half: { doubleValue: -0.5 },
      isNew: { boolValue: n % 2 === 0 },
      due: { timestampValue: '2031-02-03T04:05:06.789Z' },
      // A text that reads as a moment, one that reads as a number, and an empty one.
      told: { stringValue: '2031-02-03T04:05:06.789Z' },
      number: { stringValue: '12' },
      empty: { stringValue: '' },
      note: { stringValue: 'quote" tab\t line\n ümlaut 🙂' },
    },
  };
}

const count = 120;
const range = { timeRange: { from: '2024-01-01T00:00:00Z', to: '2024-12-31T00:00:00Z' } };

async function fillSource(key: string): Promise<void> {
  const events = Array.from({ length: count }, (_, n) => sentEvent(n));
  await post(key, 'sdk.events.v1.EventsService/BatchCreate', { events });
  const profiles = 'sdk.profiles.v1.ProfilesSDKService';
  const traits = {
    plan: 'pro',
    seats: 5,
    ratio: 0.5,
    isPaid: true,
    tags: ['a', { b: null }],
    no: '',
  };
  await post(key, `${profiles}/Identify`, { externalId: 'ada', anonymousId: 'anon-ada', traits });
  await post(key, `${profiles}/Identify`, { externalId: 'ben', traits: { plan: 'free' } });
  await post(key, `${profiles}/Alias`, { previousId: 'anon-ben', externalId: 'ben' });
  await post(key, `${profiles}/Identify`, { externalId: 'dora', traits: {} });
}

/** Events without what belongs to the project and to the moment of receipt, and the ids of each person together. */
async function contentOf(key: string) {
  const lines = await linesOf(key);
  const persons = new Map<unknown, Set<unknown>>();
  for (const { profile_id: person, distinct_id: id } of lines) {
    persons.set(person, (persons.get(person) ?? new Set()).add(id));
  }
  const events = lines
    .map(({ profile_id, receive_time, ...event }) => event)
    .sort((one, other) => (String(one['event_id']) < String(other['event_id']) ? -1 : 1));
  return { events, persons: [...persons.values()].map((ids) => [...ids].sort().join()).sort() };
}

async function traitsIn(key: string) {
  const lines = await linesOf(key, { what: 'profiles' });
  return lines
    .map(({ external_id: id, traits, distinct_ids: ids }) => ({ id, traits, ids }))
    .sort((one, other) => (String(one.id) < String(other.id) ? -1 : 1));
}

async function visitsOf(customer: Customer) {
  const { body } = await customer.call('shared.activity.v1.ActivityService/ListVisits', range);
  const visits = body['visits'] as Record<string, unknown>[];
  return visits.map(({ profileId, profile, ...visit }) => JSON.stringify(visit)).sort();
}

describe('a project that is exported and imported into another one', () => {
  let source: Customer;
  let sourceKey: string;
  beforeAll(async () => {
    source = await newCustomer(stack.baseUrl);
    sourceKey = await keyOf(source);
    await fillSource(sourceKey);
    await eventually(
      () => linesOf(sourceKey),
      ({ length }) => length === count,
    );
    await eventually(
      () => linesOf(sourceKey, { what: 'profiles' }),
      (lines) =>
        lines.length === 3 && lines.filter(({ distinct_ids: ids }) => String(ids)).length === 2,
    );
  });

  it.each(['ndjson', 'ndjson.gz', 'parquet'])('is the same by %s', async (form) => {
    const target = await newCustomer(stack.baseUrl);
    const targetKey = await keyOf(target);
    const [format = '', packed] = form.split('.');
    const files = await Promise.all(
      ['events', 'profiles'].map(async (what) => {
        const params = { what, format, ...(packed && { compression: 'gzip' }) };
        const response = await eventually(
          () => take(sourceKey, params),
          ({ status }) => status === 200,
        );
        const path = join(directory, `${what}.${form}`);
        writeFileSync(path, Buffer.from(await response.arrayBuffer()));
        return path;
      }),
    );
    const flags = ['--url', stack.baseUrl, '--private-key', targetKey];
    const { code, out, err } = await startImport(['millrace', ...files, ...flags], directory)
      .finished;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`${count} sent, 0 were stored before`);
    expect(out).not.toContain('left out');
    await eventually(
      () => linesOf(targetKey),
      ({ length }) => length === count,
    );
    const wanted = await contentOf(sourceKey);
    await eventually(
      () => contentOf(targetKey),
      ({ persons }) => persons.length === wanted.persons.length,
    );
    expect(wanted.persons).toEqual(['ada,anon-ada', 'anon-ben,ben', 'anon-stranger', 'carl']);
    expect(await contentOf(targetKey)).toEqual(wanted);
    const traits = await traitsIn(sourceKey);
    await eventually(
      () => traitsIn(targetKey),
      (found) => JSON.stringify(found) === JSON.stringify(traits),
    );
    const visits = await visitsOf(source);
    // A visit names its person as soon as the record is there.
    await eventually(
      () => visitsOf(target),
      (found) => found.join() === visits.join(),
    );
    const again = await startImport(['millrace', ...files, ...flags], directory).finished;
    expect(again.out).toContain(`0 sent, ${count} were stored before`);
  });

  it('opens to keys that read and to members, and to nobody else', async () => {
    const statusOf = async (headers: Record<string, string>, query = '') => {
      const response = await eventually(
        () => fetch(`${stack.baseUrl}/export?kinds=none${query}`, { headers }),
        ({ status }) => status !== 429,
      );
      return [response.status, JSON.parse((await response.text()) || '{}').code];
    };
    const [reads, writes] = [
      await keyOf(source, 'API_KEY_SCOPE_READ'),
      await keyOf(source, 'API_KEY_SCOPE_WRITE'),
    ];
    expect(await statusOf({ 'x-api-key': reads })).toEqual([200, undefined]);
    expect(await statusOf({ authorization: `Bearer ${sourceKey}` })).toEqual([200, undefined]);
    const { authorization, 'x-project-id': projectId } = source.headers;
    expect(await statusOf({ authorization }, `&project=${projectId}`)).toEqual([200, undefined]);
    expect(await statusOf(source.headers)).toEqual([200, undefined]);
    expect(await statusOf({ authorization })).toEqual([400, 'invalid_argument']);
    const stranger = await newCustomer(stack.baseUrl);
    const foreign = { ...stranger.headers, 'x-project-id': projectId };
    expect(await statusOf(foreign)).toEqual([404, 'not_found']);
    expect(await statusOf({ 'x-api-key': writes })).toEqual([403, 'permission_denied']);
    expect(await statusOf({ 'x-api-key': source.key })).toEqual([403, 'permission_denied']);
    expect(await statusOf({})).toEqual([401, 'unauthenticated']);
    expect(await statusOf({ 'x-api-key': reads }, '&project=other')).toEqual([404, 'not_found']);
  });

  it('is told to webhooks once it is kept, here of the persons of a segment', async () => {
    const listed = await source.call('dashboard.orgs.v1.OrgsService/List', {});
    const [{ id: organizationId }] = Object(listed.body)['orgs'];
    const subscription = {
      subject_type: 'WEBHOOK_SUBJECT_TYPE_PROJECT',
      subject_id: source.headers['x-project-id'],
      subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_EXPORT_READY',
    };
    const endpoint = { name: 'Warehouse', endpoint_url: receiver.url('/exports') };
    const webhook = await source.call(`v1/organizations/${organizationId}/webhooks`, {
      content: { ...endpoint, subscriptions: [subscription] },
    });
    expect(webhook.status).toBe(201);
    const trait = { property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' };
    const saved = await source.call('dashboard.segments.v1.SegmentsService/Create', {
      displayName: 'Pro',
      condition: { groups: [{ tests: [{ trait }] }] },
    });
    expect(saved.body).toMatchObject({ segment: { displayName: 'Pro' } });
    const segments = [Object(saved.body['segment']).id];
    const query = { what: 'EXPORT_WHAT_PROFILES', format: 'EXPORT_FORMAT_NDJSON', segments };
    const service = 'shared.exports.v1.ExportsService';
    const made = Object(await source.call(`${service}/Create`, { query })).body.export;
    const [told] = await eventually(
      async () => receiver.received,
      ({ length }) => length > 0,
    );
    expect(told?.headers['x-service-event']).toBe('export_ready');
    expect(JSON.parse(told?.body ?? '')).toMatchObject({
      ...{ organizationId, eventType: 'export_ready' },
      data: { exportId: made.id, what: 'profiles', rows: 1, files: ['profiles-0001.ndjson'] },
    });
    const url = `${stack.baseUrl}/exports/${made.id}/profiles-0001.ndjson`;
    const file = await fetch(url, { headers: { 'x-api-key': sourceKey } });
    expect(JSON.parse(await file.text())).toMatchObject({ external_id: 'ada' });
  });

  it('is kept as files that curl goes on with where it broke off', async () => {
    const service = 'shared.exports.v1.ExportsService';
    const query = { what: 'EXPORT_WHAT_EVENTS', format: 'EXPORT_FORMAT_NDJSON' };
    const made = Object(await source.call(`${service}/Create`, { query })).body.export;
    const ready = await eventually(
      async () => Object(await source.call(`${service}/Get`, { id: made.id })).body.export,
      ({ state }) => state === 'EXPORT_STATE_READY',
    );
    expect(ready).toMatchObject({ rows: String(count), parts: [{ rows: String(count) }] });
    const [{ name, bytes, sha256 }] = ready.parts;
    const path = join(directory, name);
    const url = `${stack.baseUrl}/exports/${made.id}/${name}`;
    const curl = () =>
      spawnSync('curl', [
        '-sS',
        '--fail',
        '-C',
        '-',
        '-H',
        `x-api-key: ${sourceKey}`,
        url,
        '-o',
        path,
      ]);
    expect(curl().status).toBe(0);
    truncateSync(path, 1_000);
    expect(curl().status).toBe(0);
    // All of it is there: 416, which curl calls an error, and leaves the file as it is.
    expect(curl().status).toBe(22);
    const content = readFileSync(path);
    expect(String(content.length)).toBe(bytes);
    expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
    const stranger = await newCustomer(stack.baseUrl);
    const { body } = await stranger.call(`${service}/Get`, { id: made.id });
    expect(body).toMatchObject({ code: 'not_found', message: 'there is no such export' });
    const foreign = await fetch(url, { headers: { 'x-api-key': await keyOf(stranger) } });
    expect(foreign.status).toBe(404);
    await source.call(`${service}/Cancel`, { id: made.id });
    const gone = await fetch(url, { headers: { 'x-api-key': sourceKey } });
    expect(gone.status).toBe(404);
  });
});
