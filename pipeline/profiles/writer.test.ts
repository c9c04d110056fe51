// The writer of profiles on a real broker and engine: what it stores, and how it goes on after a crash between the
// steps of a batch.

import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBucket, type RecordBucket } from '../../platform/broker/kv.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import {
  buckets,
  deadLetterStream,
  ensureTopology,
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
} from '../../platform/broker/topology.ts';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics, metricValue } from '../../platform/metrics.ts';
import { encodeContext, encodeFrame } from '../../proto/wire/frame.ts';
import { encodeChange, type ProfileChange } from '../../proto/wire/profile-change.ts';
import { readRecord, recordSql } from '../../query/profiles/profile-message.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { createDeadLetters } from '../consume/dead-letter.ts';
import { streamCreated } from '../consume/event-stream.ts';
import { createPipelineMetrics } from '../metrics.ts';
import { type LedgerRecord, readLedgerRecord } from '../write/ledger.ts';
import { readProfileMessages } from './messages.ts';
import { newRecord } from './record.ts';
import { blockOf, insertBlock, isStored, isTooLarge, loadMembers, loadRecords } from './store.ts';
import { ProfileTraits } from './traits.ts';
import { runProfileShard } from './writer.ts';

const log = createLog('silent');
const broker = useBroker();
const engine = useEngine();
let nats: NatsConnection;
let clickhouse: ClickHouseClient;
let ledger: RecordBucket<LedgerRecord>;
beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  ledger = await openBucket(nats, buckets.ledger, readLedgerRecord);
}, 60_000);
afterAll(async () => {
  await clickhouse.close();
  await nats.close();
});

/** One frame of these changes; returns its sequence. */
async function publish(projectId: string, ...changes: ProfileChange[]): Promise<number> {
  const context = encodeContext({ projectId, credential: 'private', receiveTimeMs: Date.now() });
  const requests = changes.map((change) => ({ context, body: encodeChange(change), events: 1 }));
  return (await nats.jetstream().publish(profilesSubject(0), encodeFrame(requests))).seq;
}

const metrics = createMetrics();
const pipelineMetrics = createPipelineMetrics(metrics);

function startWriter() {
  const stop = new AbortController();
  const ended = runProfileShard({
    nats,
    clickhouse,
    shard: 0,
    clock: systemClock,
    log,
    metrics: pipelineMetrics,
    stop: stop.signal,
    abort: new AbortController().signal,
    onState: () => {},
  });
  return {
    async done(seq: number): Promise<void> {
      while ((await hwm()) < seq) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    async stop(): Promise<unknown> {
      stop.abort();
      return ended;
    },
  };
}

async function hwm(): Promise<number> {
  const read = await ledger.get(profilesLedgerKey(0));
  return read.kind === 'found' ? read.record.hwm : 0;
}

function identify(externalId: string, traits: [string, string][], anonymousId = ''): ProfileChange {
  return { kind: 'identify', externalId, anonymousId, deviceId: '', traits };
}

/** The named profiles of a project as a list has them. */
async function listed(projectId: string): Promise<string[]> {
  const result = await clickhouse.query({
    query: `SELECT distinct_id FROM profiles_by_creation FINAL WHERE project_id = {projectId:String} AND live
      ORDER BY distinct_id`,
    query_params: { projectId },
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([distinctId]) => distinctId);
}

/** Who is merged into whom, as reads of a person find it; throws where that is not what the edges themselves say. */
async function merged(projectId: string): Promise<string[]> {
  const rows = async (query: string): Promise<[string, string][]> => {
    const format = 'JSONCompactEachRow';
    return (await clickhouse.query({ query, query_params: { projectId }, format })).json();
  };
  const edges = await rows(
    `SELECT distinct_id, root FROM profiles FINAL WHERE project_id = {projectId:String} AND edge AND root != ''`,
  );
  const names = new Map(
    await rows(
      `SELECT DISTINCT hex(profile_id), distinct_id FROM profiles WHERE project_id = {projectId:String}`,
    ),
  );
  const found = await rows(
    `SELECT hex(profile_id), hex(root_id) FROM profiles_by_root FINAL WHERE project_id = {projectId:String} AND live`,
  );
  const texts = found.map(([id, root]) => `${names.get(id)} into ${names.get(root)}`).sort();
  expect(texts).toEqual(edges.map(([id, root]) => `${id} into ${root}`).sort());
  return texts;
}

/** The named profiles of a project as a read of one of them has them. */
async function recorded(projectId: string): Promise<string[]> {
  const result = await clickhouse.query({
    query: `SELECT lower(hex(profile_id)), ${recordSql('profile_id')} FROM profile_activity
      WHERE project_id = {projectId:String} GROUP BY profile_id`,
    query_params: { projectId },
    format: 'JSONCompactEachRow',
  });
  const records = (await result.json<[string, string]>()).map(([id, text]) => readRecord(id, text));
  const texts = records.map((record) => {
    if (record === undefined) return 'nobody';
    const { rootId, deleted, stored } = record;
    return `${deleted ? 'deleted ' : ''}${/[^0]/.test(rootId) ? 'merged ' : ''}${stored.externalId}`;
  });
  return texts.sort();
}

async function traitsOf(projectId: string, distinctId: string): Promise<unknown> {
  const [found] = await loadRecords(clickhouse, [{ projectId, distinctId }]);
  return found && Object.fromEntries(found.traits?.values ?? []);
}

function alias(previousId: string, externalId: string): ProfileChange {
  return { kind: 'alias', previousId, externalId };
}

function unmerge(distinctId: string): ProfileChange {
  return { kind: 'unmerge', distinctId };
}

/** Applies each list of changes as a batch of its own, or all as one batch. */
async function apply(projectId: string, asOne: boolean, ...changes: ProfileChange[]) {
  const writer = startWriter();
  const batches = asOne ? [changes] : changes.map((change) => [change]);
  for (const batch of batches) await writer.done(await publish(projectId, ...batch));
  await writer.stop();
}

/** The letters of a project, and those of nobody, oldest first. */
async function deadLetters(projectId: string): Promise<object[]> {
  const manager = await nats.jetstreamManager();
  const { state } = await manager.streams.info(deadLetterStream);
  const letters: object[] = [];
  for (let seq = 1; seq <= state.last_seq; seq++) {
    const { header, data } = await manager.streams.getMessage(deadLetterStream, { seq });
    const field = (name: string): string => header.get(`Millrace-${name}`);
    if (![projectId, ''].includes(field('Project'))) continue;
    const [stream, streamSeq, reason] = ['Stream', 'Stream-Seq', 'Reason'].map(field);
    letters.push({ stream, seq: Number(streamSeq), reason, content: Buffer.from(data).toString() });
  }
  return letters;
}

/** What a writer leaves that died after the promise, before or after its insert. */
async function promise(seq: number, refused = 0): Promise<string> {
  const created = await streamCreated(nats, profilesStream(0));
  const second = BigInt(Math.floor(Date.parse(created) / 1_000) - Date.UTC(2020, 0, 1) / 1_000);
  const version = String((second << 34n) + BigInt(seq));
  const read = await ledger.get(profilesLedgerKey(0));
  if (read.kind !== 'found') throw new Error('no ledger');
  const counts = { accepted: 1, stored: 1 - refused, duplicates: 0, deadLetters: refused };
  const inserts = refused > 0 ? [] : [{ month: 0, token: version, rows: 1, idsHash: '' }];
  const pending = { seqs: [[seq, seq]] as [number, number][], inserts, counts };
  await ledger.update(profilesLedgerKey(0), { ...read.record, pending }, read.revision);
  return version;
}

it('finishes a promised batch once, whether its block was inserted or not', async () => {
  const first = startWriter();
  await first.done(
    await publish('crash', identify('u', [['a', '1']]), identify('gone', [['a', '1']])),
  );
  expect(await first.stop()).toEqual({ kind: 'stopped' });

  const lost = await publish('crash', identify('u', [['b', '2']]), {
    kind: 'delete',
    distinctId: 'gone',
  });
  await promise(lost);
  const second = startWriter();
  await second.done(lost);
  await second.stop();
  expect(await traitsOf('crash', 'u')).toEqual({ a: '1', b: '2' });
  expect(await traitsOf('crash', 'gone')).toEqual({});

  const landed = await publish('crash', identify('u', [['c', '3']]));
  const version = await promise(landed);
  const own = {
    ...newRecord('crash', 'u'),
    named: true,
    traits: new ProfileTraits([['landed', '1']]),
  };
  await insertBlock(clickhouse, blockOf([own], 0, version));
  const third = startWriter();
  await third.done(landed);
  const next = await publish('crash', identify('u', [['d', '4']]));
  await third.done(next);
  await third.stop();
  // The block that was there is what counts: it is not computed anew.
  expect(await traitsOf('crash', 'u')).toEqual({ landed: '1', d: '4' });
});

it('completes a block whose views were kept from it by a crash', async () => {
  const first = startWriter();
  await first.done(await publish('half', identify('u', [], 'anon'), identify('gone', [])));
  await first.stop();
  expect(await listed('half')).toEqual(['gone', 'u']);
  expect(await merged('half')).toEqual(['anon into u']);

  const landed = await publish('half', alias('u', 'v'), { kind: 'delete', distinctId: 'gone' });
  const version = await promise(landed);
  const definitions: string[] = [];
  for (const view of [
    'profiles_by_creation_view',
    'profiles_by_root_view',
    'profile_record_view',
  ]) {
    const query = `SHOW CREATE TABLE ${view}`;
    const shown = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
    for (const [definition] of await shown.json<[string]>()) definitions.push(definition);
    await clickhouse.command({ query: `DROP VIEW ${view}` });
  }
  const names = ['gone', 'u', 'anon'].map((distinctId) => ({ projectId: 'half', distinctId }));
  const rows = await loadRecords(clickhouse, names);
  for (const record of rows) {
    if (record.distinctId === 'gone') record.deleted = true;
    else Object.assign(record, { wasClaimed: true, owner: record.owner || 'v', root: 'v' });
  }
  rows.push({ ...newRecord('half', 'v'), named: true });
  await insertBlock(clickhouse, blockOf(rows, 0, version));
  for (const query of definitions) await clickhouse.command({ query });
  expect(await listed('half')).toEqual(['gone', 'u']);
  await expect(merged('half')).rejects.toThrow('anon into v');
  expect(await recorded('half')).toEqual(['gone', 'u']);

  const second = startWriter();
  await second.done(landed);
  await second.stop();
  expect(await listed('half')).toEqual(['v']);
  expect(await merged('half')).toEqual(['anon into v', 'u into v']);
  expect(await recorded('half')).toEqual(['deleted gone', 'merged u', 'v']);
});

it('takes a batch in halves where its profiles have more traits than the engine could insert at once', async () => {
  const ids = Array.from({ length: 560 }, (_, index) => `user ${index}`);
  const large = JSON.stringify('x'.repeat(65_000));
  const stored = ids.map((distinctId) => {
    const traits = new ProfileTraits([['large', large]]);
    return { ...newRecord('large', distinctId), named: true, traits };
  });
  for (let from = 0; from < ids.length; from += 100) {
    await insertBlock(clickhouse, blockOf(stored.slice(from, from + 100), 0, '1'));
  }
  let last = 0;
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50).map((id) => identify(id, [['small', '1']]));
    last = await publish('large', ...some);
  }
  const names = ids.map((distinctId) => ({ projectId: 'large', distinctId }));
  const refusal = loadRecords(clickhouse, names, 1_048_576).catch(isTooLarge);
  expect(await refusal).toBe(true);
  const writer = startWriter();
  await writer.done(last);
  await writer.stop();
  const result = await clickhouse.query({
    query: `SELECT uniqExactIf(distinct_id, traits = map('large', {large:String}, 'small', '1')), max(block) FROM (
      SELECT *, sum(length(traits['large'])) OVER (PARTITION BY version) AS block
      FROM profiles WHERE project_id = 'large' AND version > 1)`,
    query_params: { large },
    format: 'JSONCompactEachRow',
  });
  const [[profiles, blockBytes] = []] = await result.json<[string, string]>();
  expect(profiles).toBe('560');
  expect(Number(blockBytes)).toBeLessThan(17 * 1_048_576);
}, 60_000);

it.each([
  ['one batch', true, false],
  ['a batch each', false, false],
  ['a batch and a writer each', false, true],
])('lists merged ids by the root they have, in %s', async (_, asOne, forgets) => {
  const project = `roots-${asOne}-${forgets}`;
  const steps: [ProfileChange, string[]][] = [
    [identify('a', [], 'x'), ['x into a']],
    [alias('a', 'b'), ['a into b', 'x into b']],
    [unmerge('a'), ['x into a']],
    // There and back: what was not live at this root is again.
    [alias('a', 'b'), ['a into b', 'x into b']],
    [alias('b', 'c'), ['a into c', 'b into c', 'x into c']],
    [unmerge('x'), ['a into c', 'b into c']],
    [{ kind: 'delete', distinctId: 'c' }, ['a into c', 'b into c']],
    [identify('d', [], 'x'), ['a into c', 'b into c', 'x into d']],
    [unmerge('b'), ['a into b', 'x into d']],
    [unmerge('a'), ['x into d']],
  ];
  if (asOne) await apply(project, true, ...steps.map(([change]) => change));
  else {
    let writer = startWriter();
    for (const [change, expected] of steps) {
      await writer.done(await publish(project, change));
      expect(await merged(project), JSON.stringify(change)).toEqual(expected);
      if (!forgets) continue;
      await writer.stop();
      writer = startWriter();
    }
    await writer.stop();
  }
  expect(await merged(project)).toEqual(['x into d']);
});

it('lists merged ids by the root they have, after any changes in any batches', async () => {
  await clickhouse.command({ query: 'SYSTEM STOP MERGES profiles_by_root' });
  const users = ['a', 'b', 'c', 'd'];
  const ids = [...users, 'x', 'y', 'z'];
  let state = 20_261_122;
  const below = (count: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const pick = (from: readonly string[]): string => from[below(from.length)] ?? '';
  const change = (): ProfileChange => {
    const kind = below(10);
    if (kind < 3) return identify(pick(users), [], pick(['', 'x', 'y', 'z']));
    if (kind < 6) return alias(pick(ids), pick(users));
    return kind < 9 ? unmerge(pick(ids)) : { kind: 'delete', distinctId: pick(ids) };
  };
  let merges = 0;
  let writer = startWriter();
  for (let batch = 0; batch < 30; batch++) {
    await writer.done(await publish('any', ...Array.from({ length: 1 + below(5) }, change)));
    merges += (await merged('any')).length;
    if (below(4) > 0) continue;
    await writer.stop();
    writer = startWriter();
  }
  await writer.stop();
  await clickhouse.command({ query: 'SYSTEM START MERGES profiles_by_root' });
  expect(merges).toBeGreaterThan(30);
}, 60_000);

it.each([
  ['one batch', true],
  ['a batch each', false],
])('lists who was deleted and named again once, in %s', async (_, asOne) => {
  const project = `again-${asOne}`;
  const gone: ProfileChange = { kind: 'delete', distinctId: 'u' };
  await apply(project, true, identify('u', []), identify('v', []));
  // Each creation is a later moment.
  const writer = startWriter();
  const lists = [[gone, identify('u', [])], [gone], [identify('u', []), gone, identify('u', [])]];
  for (const changes of asOne ? lists : lists.flat().map((change) => [change])) {
    await writer.done(await publish(project, ...changes));
    const [found] = await loadRecords(clickhouse, [{ projectId: project, distinctId: 'u' }]);
    expect(await listed(project)).toEqual(found?.deleted ? ['v'] : ['u', 'v']);
  }
  await writer.stop();
});

it('applies the changes of one batch in order, and stores a batch as one part', async () => {
  const writer = startWriter();
  const seq = await publish(
    'order',
    identify('u', [['a', '1']], 'anon-1'),
    { kind: 'delete', distinctId: 'anon-1' },
    identify('u', [['b', 'null']]),
    { kind: 'alias', previousId: 'u', externalId: 'root' },
    identify('u', [['b', '2']]),
    { kind: 'unmerge', distinctId: 'anon-1' },
    identify('v', [], 'anon-1'),
  );
  await writer.done(seq);
  await writer.stop();
  expect(await traitsOf('order', 'root')).toEqual({ b: '2' });
  const [anonymous] = await loadRecords(clickhouse, [{ projectId: 'order', distinctId: 'anon-1' }]);
  expect(anonymous).toMatchObject({ owner: 'v', root: 'v', named: false, mergeSource: 'identify' });
});

it('sets aside what cannot be read, counted and with its reason, and does the rest', async () => {
  const context = encodeContext({ projectId: 'odd', credential: 'private', receiveTimeMs: 1 });
  const body = (text: string): Uint8Array => Buffer.from(text);
  const odd = [
    '{"kind":"identify","externalId":"a","anonymousId":"","deviceId":"","traits":[["k",1]]}',
    '{"kind":"forget","distinctId":"a"}',
    '{"kind":"alias","previousId":"","externalId":"a"}',
    '{"kind":"delete","distinctId":"\\ud800"}',
    '{',
  ];
  const bodies = [encodeChange(identify('a', [['n', '1']])), ...odd.map(body)];
  bodies.push(encodeChange(identify('b', [['n', '"\\\\ud800 \u{1f600}\\u0000"']])));
  const requests = bodies.map((one) => ({ context, body: one, events: 1 }));
  const late = encodeContext({ projectId: 'odd', credential: 'private', receiveTimeMs: 1e300 });
  requests.push({ context: late, body: encodeChange(identify('c', [])), events: 1 });
  const jetstream = nats.jetstream();
  const junk = await jetstream.publish(profilesSubject(0), 'junk');
  const frame = await jetstream.publish(profilesSubject(0), encodeFrame(requests));
  const writer = startWriter();
  await writer.done(frame.seq);
  await writer.stop();
  expect(await traitsOf('odd', 'a')).toEqual({ n: '1' });
  expect(await traitsOf('odd', 'b')).toEqual({ n: '"\\\\ud800 \u{1f600}\\u0000"' });
  const stream = profilesStream(0);
  const refused = { stream, seq: frame.seq, reason: 'request_unreadable' };
  expect(await deadLetters('odd')).toEqual([
    { stream, seq: junk.seq, reason: 'frame_unreadable', content: 'junk' },
    ...odd.map((content) => ({ ...refused, content })),
    { ...refused, content: Buffer.from(encodeChange(identify('c', []))).toString() },
  ]);
  const labels = { shard: '0', outcome: 'dead_letter' };
  expect(await metricValue(metrics, 'millrace_pipeline_profile_changes_total', labels)).toBe(6);
});

it.each([
  ['before', false],
  ['after', true],
])('publishes a promised letter once where its writer died %s it had', async (_, isPublished) => {
  const jetstream = nats.jetstream();
  const content = Buffer.from(`junk ${isPublished}`);
  const { seq } = await jetstream.publish(profilesSubject(0), content);
  await promise(seq, 1);
  if (isPublished) {
    const stream = profilesStream(0);
    const publishLetters = createDeadLetters({
      ...{ broker: jetstream, shard: 0, stream, streamCreated: await streamCreated(nats, stream) },
      ...{ maxPayloadBytes: 1_048_576, retry: (call) => call() },
    });
    await publishLetters(readProfileMessages([{ seq, data: content }]).deadLetters);
  }
  const writer = startWriter();
  await writer.done(seq);
  await writer.stop();
  const letters = await deadLetters('');
  expect(letters.filter((letter) => 'seq' in letter && letter.seq === seq)).toMatchObject([
    { content: content.toString(), reason: 'frame_unreadable' },
  ]);
});

it.each([
  ['one batch', true],
  ['a batch each', false],
])('takes back with a merge what it gave, in %s', async (_, asOne) => {
  const project = `back-${asOne}`;
  await apply(
    project,
    asOne,
    identify('home', [
      ['plan', '"free"'],
      ['seats', '1'],
    ]),
    identify('work', [
      ['plan', '"pro"'],
      ['team', '"red"'],
    ]),
    identify('old', [
      ['team', '"blue"'],
      ['since', '1999'],
    ]),
    alias('old', 'work'),
    alias('work', 'home'),
    // Said of the owner while it was merged: the owner's.
    identify('work', [['since', '2000']]),
  );
  expect(await traitsOf(project, 'home')).toEqual({
    plan: '"free"',
    seats: '1',
    team: '"red"',
    since: '2000',
  });
  await apply(project, asOne, unmerge('work'));
  expect(await traitsOf(project, 'home')).toEqual({ plan: '"free"', seats: '1', since: '2000' });
  expect(await traitsOf(project, 'work')).toEqual({
    plan: '"pro"',
    team: '"red"',
    since: '1999',
  });
  await apply(project, asOne, unmerge('old'));
  expect(await traitsOf(project, 'work')).toEqual({ plan: '"pro"', team: '"red"' });
  expect(await traitsOf(project, 'old')).toEqual({ team: '"blue"', since: '1999' });
});

it('gives a trait that goes with a merge anew from another id that has it', async () => {
  await apply(
    'anew',
    false,
    identify('a', [['k', '"a"']]),
    identify('b', [['k', '"b"']]),
    identify('c', [['only', '1']]),
    alias('a', 'root'),
    alias('b', 'root'),
    alias('c', 'b'),
  );
  expect(await traitsOf('anew', 'root')).toEqual({ k: '"a"', only: '1' });
  await apply('anew', false, unmerge('a'));
  expect(await traitsOf('anew', 'root')).toEqual({ k: '"b"', only: '1' });
  // It joined b after b was merged: b never had its traits itself.
  await apply('anew', false, unmerge('b'));
  expect(await traitsOf('anew', 'root')).toEqual({});
  expect(await traitsOf('anew', 'b')).toEqual({ k: '"b"', only: '1' });
});

it('gives nothing back that was deleted', async () => {
  await apply(
    'deleted',
    false,
    identify('a', [['k', '1']]),
    alias('a', 'root'),
    { kind: 'delete', distinctId: 'root' },
    identify('root', [['new', '1']]),
    unmerge('a'),
  );
  expect(await traitsOf('deleted', 'root')).toEqual({ new: '1' });
  expect(await traitsOf('deleted', 'a')).toEqual({});
});

it('takes an id from its owner with all that was merged into it, though it remembers none of them', async () => {
  const first = startWriter();
  const merged = await publish(
    'unmerge',
    identify('b', [['b', '1']]),
    { kind: 'alias', previousId: 'b', externalId: 'c' },
    identify('c', [], 'anon-c'),
    { kind: 'alias', previousId: 'c', externalId: 'd' },
    identify('b', [], 'anon-b'),
  );
  await first.done(merged);
  await first.stop();
  const second = startWriter();
  await second.done(await publish('unmerge', { kind: 'unmerge', distinctId: 'c' }));
  await second.stop();
  const names = ['anon-b', 'anon-c', 'b', 'c', 'd'].map((distinctId) => {
    return { projectId: 'unmerge', distinctId };
  });
  const found = await loadRecords(clickhouse, names);
  expect(Object.fromEntries(found.map(({ distinctId, root }) => [distinctId, root]))).toEqual({
    'anon-b': 'c',
    'anon-c': 'c',
    b: 'c',
    c: '',
    d: '',
  });
});

it('forgets no merge over a batch that only passes by it', async () => {
  const writer = startWriter();
  await writer.done(
    await publish(
      'passing',
      { kind: 'alias', previousId: 'b', externalId: 'c' },
      { kind: 'alias', previousId: 'c', externalId: 'd' },
    ),
  );
  // To see what must go with x, the owners of b are followed past c, which the batch does not name.
  await writer.done(
    await publish(
      'passing',
      identify('b', []),
      { kind: 'alias', previousId: 'x', externalId: 'd' },
      { kind: 'unmerge', distinctId: 'x' },
    ),
  );
  await writer.done(await publish('passing', { kind: 'alias', previousId: 'c', externalId: 'e' }));
  await writer.stop();
  const [found] = await loadRecords(clickhouse, [{ projectId: 'passing', distinctId: 'c' }]);
  expect(found).toMatchObject({ owner: 'd', root: 'd' });
});

it('reads back what it stored, of many ids and of few, and tells blocks apart', async () => {
  const odd = ["it's", 'a b:c', '\\', '😀', '{p:String}'];
  const ids = [...odd, ...Array.from({ length: 20_000 }, (_, index) => `id-${index}`)];
  const records = ids.map((distinctId) => ({
    ...newRecord('many', distinctId),
    named: true,
    traits: new ProfileTraits([[distinctId, JSON.stringify(distinctId)]]),
    owner: 'owner',
    root: 'owner',
    wasClaimed: true,
  }));
  await insertBlock(clickhouse, blockOf(records, 3, '77'));
  const result = await clickhouse.query({
    query: 'SELECT uniqExact(_part) AS parts, count() AS n FROM profiles WHERE version = 77',
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([{ parts: '1', n: '40010' }]);
  expect(await isStored(clickhouse, 3, '77')).toBe(true);
  expect(await isStored(clickhouse, 3, '78')).toBe(false);
  expect(await isStored(clickhouse, 4, '77')).toBe(false);

  const names = ids.map((distinctId) => ({ projectId: 'many', distinctId }));
  for (const asked of [names, names.slice(0, 7)]) {
    const found = await loadRecords(clickhouse, asked);
    expect(found.map(({ distinctId }) => distinctId).sort()).toEqual(
      asked.map(({ distinctId }) => distinctId).sort(),
    );
    const one = found.find(({ distinctId }) => distinctId === "it's");
    expect(one).toMatchObject({
      named: true,
      owner: 'owner',
    });
    expect(one?.traits?.values).toEqual(new Map([["it's", `"it's"`]]));
  }
  expect(await loadRecords(clickhouse, [{ projectId: 'other', distinctId: 'id-1' }])).toEqual([]);
  expect((await loadMembers(clickhouse, [{ projectId: 'many', distinctId: 'owner' }])).length).toBe(
    ids.length,
  );
});
