// What is held of a person, on the whole product: everything of every id, nothing of anybody else, also while the
// profile is hidden, and nothing at all once the person is erased.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { connectBroker, headers, type NatsConnection } from '../platform/broker/nats.ts';
import { deadLetterSubject } from '../platform/broker/streams.ts';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { batchCreate, call, eventually, newEvent } from './harness/clients/client.ts';
import { identify, profileOf, streamed } from './harness/clients/profile-client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
let clickhouse: DatabaseClient;
let nats: NatsConnection;
beforeAll(async () => {
  stack = await startStack();
  const log = createLog('silent');
  clickhouse = createClickHouse(stack.clickhouseUrl, { log, maxConnections: 2 });
  nats = await connectBroker(stack.natsUrl, log);
  await play();
});
afterAll(async () => {
  await clickhouse?.close();
  await nats?.close();
  await stack?.stop();
});

const [ada, anonymousAda, bob] = ['ada-x7k2', 'anon-m3v8', 'bob-p6t4'];
const deviceId = randomUUID();
/** More than a message has. */
const views = 1_100;

interface Held {
  ids?: Record<string, unknown>[];
  events?: { distinctId: string; eventId: string; kind: string; customProperties?: object }[];
  deadLetters?: { reason: string; content?: string; events: number }[];
  attempts?: { deliveryId: string; payload?: string; responseBody?: string; status: string }[];
  totals?: Record<string, string>;
}

/** All messages as one; the last one alone has totals. */
async function heldOf(request: object): Promise<Required<Held>> {
  const parts = await streamed<Held>(stack, 'GetDataSubject', request);
  expect(parts.slice(0, -1).some(({ totals }) => totals !== undefined)).toBe(false);
  return {
    ids: parts.flatMap(({ ids = [] }) => ids),
    events: parts.flatMap(({ events = [] }) => events),
    deadLetters: parts.flatMap(({ deadLetters = [] }) => deadLetters),
    attempts: parts.flatMap(({ attempts = [] }) => attempts),
    totals: parts.at(-1)?.totals ?? {},
  };
}

async function letter(projectId: string, distinctId: string, event: string): Promise<void> {
  const described = headers();
  described.set('Millrace-Reason', 'kind_missing');
  described.set('Millrace-Project', projectId);
  described.set('Millrace-Events', event === '' ? '2' : '1');
  if (event !== '') described.set('Millrace-Event', event);
  const content = Buffer.from(JSON.stringify({ distinctId, secret: 'of a letter' }));
  await nats.jetstream().publish(deadLetterSubject(0), content, { headers: described });
}

async function attempt(deliveryId: string, distinctId: string, number: number): Promise<void> {
  const payload = JSON.stringify({ data: { distinctId } });
  await clickhouse.insert({
    table: 'webhook_attempts',
    format: 'JSONEachRow',
    values: [
      {
        ...{ organization_id: 'org', webhook_id: 'hook', attempt_time: Date.now() + number },
        ...{ attempt_id: randomUUID(), delivery_id: deliveryId, project_id: stack.projectId },
        ...{ event_type: 'event', attempt: number, status: 'SUCCEEDED', is_first: number === 1 },
        ...{ response_body: `answer ${number}`, payload: number === 1 ? payload : '' },
      },
    ],
  });
}

async function play(): Promise<void> {
  const events = [
    ...Array.from({ length: views }, () => newEvent({ distinctId: anonymousAda })),
    newEvent({ distinctId: ada, customProperties: { amount: { doubleValue: 1.5 } } }),
    newEvent({ distinctId: bob }),
  ];
  for (const some of [events.slice(0, 1_000), events.slice(1_000)]) {
    expect((await batchCreate(stack, some)).status).toBe(200);
  }
  const traits = { email: 'ada@example.org', seats: 3 };
  await identify(stack, {
    ...{ externalId: ada, anonymousId: anonymousAda, deviceId, traits },
  });
  await identify(stack, { externalId: bob, traits: { email: 'bob@example.org' } });
  await letter(stack.projectId, ada, '0');
  await letter(stack.projectId, ada, '');
  await letter(stack.projectId, bob, '0');
  await letter(randomUUID(), ada, '0');
  await attempt('of ada', anonymousAda, 1);
  await attempt('of ada', anonymousAda, 2);
  await attempt('of bob', bob, 1);
  await eventually(
    () => profileOf(stack, ada),
    (found) => found?.activity.totalEvents === String(views + 1) && found.merged?.length === 1,
  );
}

it('has everything of all ids of a person, and nothing of others', async () => {
  const held = await heldOf({ externalId: ada });
  expect(held.ids).toMatchObject([
    {
      ...{ distinctId: ada, named: true, deviceId },
      traits: { email: '"ada@example.org"', seats: '3' },
    },
    { distinctId: anonymousAda, mergedInto: ada },
  ]);
  expect(new Set(held.events.map(({ eventId }) => eventId)).size).toBe(views + 1);
  expect(new Set(held.events.map(({ distinctId }) => distinctId))).toEqual(
    new Set([ada, anonymousAda]),
  );
  const own = held.events.find(({ distinctId }) => distinctId === ada);
  expect(own?.customProperties).toEqual({ amount: { doubleValue: 1.5 } });
  // The letter of two events may have somebody else's.
  expect(held.deadLetters.map(({ events, content = '' }) => [events, content !== ''])).toEqual([
    [1, true],
    [2, false],
  ]);
  const [{ content = '' } = {}] = held.deadLetters;
  expect(Buffer.from(content, 'base64').toString()).toContain('of a letter');
  expect(held.attempts.map(({ deliveryId, responseBody }) => [deliveryId, responseBody])).toEqual([
    ['of ada', 'answer 1'],
    ['of ada', 'answer 2'],
  ]);
  expect(held.attempts[0]?.payload).toContain(anonymousAda);
  expect(held.totals).toMatchObject({
    ...{ ids: '2', events: String(views + 1), deadLetters: '2', attempts: '2' },
  });
  expect(Date.parse(String(held.totals['completeUntil']))).toBeGreaterThan(0);
  expect(JSON.stringify(held)).not.toContain(bob);
});

it('answers any id of the person, the internal one too', async () => {
  const whole = await heldOf({ externalId: ada });
  const id = (await profileOf(stack, ada))?.id;
  for (const request of [{ externalId: anonymousAda }, { id }]) {
    const { totals, ...held } = await heldOf(request);
    expect(held).toEqual({ ...held, ids: whole.ids, events: whole.events });
    expect(totals['attempts']).toBe('2');
  }
});

it('has nothing of a person of whom nothing is held, and says so', async () => {
  const { totals, ...held } = await heldOf({ externalId: 'nobody' });
  expect(totals).toMatchObject({ ids: '0', events: '0', deadLetters: '0', attempts: '0' });
  expect(held).toEqual({ ids: [], events: [], deadLetters: [], attempts: [] });
});

it.each([
  [{}, 'externalId: is required'],
  [{ externalId: ada, id: '0'.repeat(32) }, 'id: is not for a request with externalId'],
  [{ externalId: 'a'.repeat(513) }, 'externalId: takes at most 512 code points'],
  [{ id: 'ada' }, 'id: must be 32 lower-case hex digits'],
])('refuses %j by the name of the field', async (request, message) => {
  await expect(streamed(stack, 'GetDataSubject', request)).rejects.toThrow(
    JSON.stringify({ code: 'invalid_argument', message }).slice(0, -1),
  );
});

/** Runs the block of docs/privacy.md that begins with this function, for this person and service. */
async function runGuide(name: string): Promise<{ stdout: string; cwd: string }> {
  const guide = readFileSync('docs/privacy.md', 'utf8');
  const [, block = ''] = new RegExp(`\`\`\`sh\n(${name}\\(\\)[^]+?)\n\`\`\`\n`).exec(guide) ?? [];
  const commands = block
    .replaceAll(/(http:\/\/)?localhost:8080/g, stack.baseUrl)
    .replaceAll('"ada"', `"${ada}"`);
  const cwd = mkdtempSync(join(tmpdir(), 'guide-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const env = { ...process.env, PRV: stack.privateKey };
  const { stdout } = await promisify(execFile)('bash', ['-c', commands], { cwd, env });
  return { stdout, cwd };
}

it('is fetched by the three commands of the guide', async () => {
  const { stdout, cwd } = await runGuide('held');
  expect(JSON.parse(stdout).totals).toMatchObject({ events: String(views + 1) });
  const lines = readFileSync(join(cwd, 'ada.ndjson'), 'utf8').trimEnd().split('\n');
  // The last one is the end of the stream.
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.at(-1)).toBe('{}');
});

it('has a hidden profile, and nothing of a person erased by the three commands of the guide', async () => {
  const profiles = '/shared.profiles.v1.ProfilesService';
  const ask = (method: string, message: object) =>
    call(stack.baseUrl, `${profiles}/${method}`, stack.privateKey, message);
  const id = (await profileOf(stack, ada))?.id;
  expect((await ask('Delete', { id })).status).toBe(200);
  expect(await profileOf(stack, ada)).toBeUndefined();
  const hidden = await heldOf({ externalId: ada });
  expect(hidden.ids.some((one) => one['hidden'] === true)).toBe(true);
  expect(hidden.totals['events']).toBe(String(views + 1));
  const [, requestId] = /"requestId":"([^"]+)"/.exec((await runGuide('erase')).stdout) ?? [];
  await eventually(
    async () => (await ask('GetDeletionRequest', { requestId })).body,
    ({ status }) => status === 'COMPLIANCE_REQUEST_STATUS_COMPLETED',
    400_000,
  );
  const { totals } = await heldOf({ externalId: ada });
  expect(totals).toMatchObject({ ids: '0', events: '0', deadLetters: '0', attempts: '0' });
  const { totals: left } = await heldOf({ externalId: bob });
  expect(left).toMatchObject({ ids: '1', events: '1', deadLetters: '1', attempts: '1' });
});
