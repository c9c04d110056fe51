// The writer of profiles on a real broker and engine: how it goes on after a crash between the steps of a batch, and
// which changes it sets aside. What a change does to profiles is changes.test.ts.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  deadLetterStream,
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
} from '../../platform/broker/streams.ts';
import { metricValue } from '../../platform/metrics.ts';
import { encodeContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { encodeChange } from '../../proto/wire/profile-change.ts';
import { readRecord, recordSql } from '../../query/profiles/stored-profile.ts';
import {
  alias,
  identify,
  type ProfileShard,
  startProfileShard,
} from '../../test/harness/services/profile-shard.ts';
import { createDeadLetters } from '../consume/dead-letter.ts';
import { streamCreated } from '../consume/event-stream.ts';
import { blockOf, insertBlock } from './insert-block.ts';
import { readProfileMessages } from './messages.ts';
import { isTooLarge, loadRecords } from './read-records.ts';
import { newRecord } from './record.ts';
import { ProfileTraits } from './traits.ts';

let shard: ProfileShard;
beforeAll(async () => {
  shard = await startProfileShard();
});
afterAll(() => shard.stop());

/** The named profiles of a project, from the records that a read of one profile uses. */
async function recorded(projectId: string): Promise<string[]> {
  const result = await shard.clickhouse.query({
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

/** The dead letters of a project and those without a project, oldest first. */
async function deadLetters(projectId: string): Promise<object[]> {
  const manager = await shard.nats.jetstreamManager();
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

/** Puts a promise into the ledger like a writer that died after it; returns the version of the promised block. */
async function promise(seq: number, refused = 0): Promise<string> {
  const created = await streamCreated(shard.nats, profilesStream(0));
  const second = BigInt(Math.floor(Date.parse(created) / 1_000) - Date.UTC(2020, 0, 1) / 1_000);
  const version = String((second << 34n) + BigInt(seq));
  const read = await shard.ledger.get(profilesLedgerKey(0));
  if (read.kind !== 'found') throw new Error('no ledger');
  const counts = { accepted: 1, stored: 1 - refused, duplicates: 0, deadLetters: refused };
  const inserts = refused > 0 ? [] : [{ token: version, rows: 1, idsHash: '' }];
  const pending = { seqs: [[seq, seq]] as [number, number][], inserts, counts };
  await shard.ledger.update(profilesLedgerKey(0), { ...read.record, pending }, read.revision);
  return version;
}

it('finishes a promised batch once, whether its block was inserted or not', async () => {
  const first = shard.startWriter();
  await first.done(
    await shard.publish('crash', identify('u', [['a', '1']]), identify('gone', [['a', '1']])),
  );
  expect(await first.stop()).toEqual({ kind: 'stopped' });

  const lost = await shard.publish('crash', identify('u', [['b', '2']]), {
    kind: 'delete',
    distinctId: 'gone',
  });
  await promise(lost);
  const second = shard.startWriter();
  await second.done(lost);
  await second.stop();
  expect(await shard.traitsOf('crash', 'u')).toEqual({ a: '1', b: '2' });
  expect(await shard.traitsOf('crash', 'gone')).toEqual({});

  const landed = await shard.publish('crash', identify('u', [['c', '3']]));
  const version = await promise(landed);
  const own = {
    ...newRecord('crash', 'u'),
    named: true,
    traits: new ProfileTraits([['landed', '1']]),
  };
  await insertBlock(shard.clickhouse, blockOf([own], 0, version));
  const third = shard.startWriter();
  await third.done(landed);
  const next = await shard.publish('crash', identify('u', [['d', '4']]));
  await third.done(next);
  await third.stop();
  // The stored block counts: the writer does not compute it again.
  expect(await shard.traitsOf('crash', 'u')).toEqual({ landed: '1', d: '4' });
});

it('completes a block that a crash kept from its views', async () => {
  const first = shard.startWriter();
  await first.done(await shard.publish('half', identify('u', [], 'anon'), identify('gone', [])));
  await first.stop();
  expect(await shard.listed('half')).toEqual(['gone', 'u']);
  expect(await shard.merged('half')).toEqual(['anon into u']);

  const landed = await shard.publish('half', alias('u', 'v'), {
    kind: 'delete',
    distinctId: 'gone',
  });
  const version = await promise(landed);
  const definitions: string[] = [];
  for (const view of [
    'profiles_by_creation_view',
    'profiles_by_root_view',
    'profile_record_view',
  ]) {
    const query = `SHOW CREATE TABLE ${view}`;
    const shown = await shard.clickhouse.query({ query, format: 'JSONCompactEachRow' });
    for (const [definition] of await shown.json<[string]>()) definitions.push(definition);
    await shard.clickhouse.command({ query: `DROP VIEW ${view}` });
  }
  const names = ['gone', 'u', 'anon'].map((distinctId) => ({ projectId: 'half', distinctId }));
  const rows = await loadRecords(shard.clickhouse, names);
  for (const record of rows) {
    if (record.distinctId === 'gone') record.deleted = true;
    else Object.assign(record, { wasClaimed: true, owner: record.owner || 'v', root: 'v' });
  }
  rows.push({ ...newRecord('half', 'v'), named: true });
  await insertBlock(shard.clickhouse, blockOf(rows, 0, version));
  for (const query of definitions) await shard.clickhouse.command({ query });
  expect(await shard.listed('half')).toEqual(['gone', 'u']);
  await expect(shard.merged('half')).rejects.toThrow('anon into v');
  expect(await recorded('half')).toEqual(['gone', 'u']);

  const second = shard.startWriter();
  await second.done(landed);
  await second.stop();
  expect(await shard.listed('half')).toEqual(['v']);
  expect(await shard.merged('half')).toEqual(['anon into v', 'u into v']);
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
    await insertBlock(shard.clickhouse, blockOf(stored.slice(from, from + 100), 0, '1'));
  }
  let last = 0;
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50).map((id) => identify(id, [['small', '1']]));
    last = await shard.publish('large', ...some);
  }
  const names = ids.map((distinctId) => ({ projectId: 'large', distinctId }));
  const refusal = loadRecords(shard.clickhouse, names, 1_048_576).catch(isTooLarge);
  expect(await refusal).toBe(true);
  const writer = shard.startWriter();
  await writer.done(last);
  await writer.stop();
  const result = await shard.clickhouse.query({
    query: `SELECT uniqExactIf(distinct_id, traits = map('large', {large:String}, 'small', '1')), max(block) FROM (
      SELECT *, sum(length(traits['large'])) OVER (PARTITION BY version) AS block
      FROM profiles WHERE project_id = 'large' AND version > 1)`,
    query_params: { large },
    format: 'JSONCompactEachRow',
  });
  const [[profiles, blockBytes] = []] = await result.json<[string, string]>();
  expect(profiles).toBe('560');
  expect(Number(blockBytes)).toBeLessThan(17 * 1_048_576);
});

it('applies the changes of one batch in order, and stores a batch as one part', async () => {
  const writer = shard.startWriter();
  const seq = await shard.publish(
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
  expect(await shard.traitsOf('order', 'root')).toEqual({ b: '2' });
  const [anonymous] = await loadRecords(shard.clickhouse, [
    { projectId: 'order', distinctId: 'anon-1' },
  ]);
  expect(anonymous).toMatchObject({ owner: 'v', root: 'v', named: false, mergeSource: 'identify' });
});

it('sets unreadable changes aside, counted and with their reason, and applies the others', async () => {
  const context = encodeContext({ projectId: 'odd', credential: 'private', receiveTimeMs: 1 });
  const body = (text: string): Uint8Array => Buffer.from(text);
  const odd = [
    '{"kind":"identify","externalId":"a","anonymousId":"","deviceId":"","traits":[["k",1]]}',
    '{"kind":"unlearn","distinctId":"a"}',
    '{"kind":"alias","previousId":"","externalId":"a"}',
    '{"kind":"delete","distinctId":"\\ud800"}',
    '{',
  ];
  const bodies = [encodeChange(identify('a', [['n', '1']])), ...odd.map(body)];
  bodies.push(encodeChange(identify('b', [['n', '"\\\\ud800 \u{1f600}\\u0000"']])));
  const requests = bodies.map((one) => ({ context, body: one, events: 1 }));
  const late = encodeContext({ projectId: 'odd', credential: 'private', receiveTimeMs: 1e300 });
  requests.push({ context: late, body: encodeChange(identify('c', [])), events: 1 });
  const jetstream = shard.nats.jetstream();
  // Long enough that its memory is given back once the batch is read.
  const junkText = 'junk '.repeat(4_000);
  const junk = await jetstream.publish(profilesSubject(0), junkText);
  const frame = await jetstream.publish(profilesSubject(0), encodeFrame(requests));
  const writer = shard.startWriter();
  await writer.done(frame.seq);
  await writer.stop();
  expect(await shard.traitsOf('odd', 'a')).toEqual({ n: '1' });
  expect(await shard.traitsOf('odd', 'b')).toEqual({ n: '"\\\\ud800 \u{1f600}\\u0000"' });
  const stream = profilesStream(0);
  const refused = { stream, seq: frame.seq, reason: 'request_unreadable' };
  expect(await deadLetters('odd')).toEqual([
    { stream, seq: junk.seq, reason: 'frame_unreadable', content: junkText },
    ...odd.map((content) => ({ ...refused, content })),
    { ...refused, content: Buffer.from(encodeChange(identify('c', []))).toString() },
  ]);
  const labels = { shard: '0', outcome: 'dead_letter' };
  expect(await metricValue(shard.metrics, 'millrace_pipeline_profile_changes_total', labels)).toBe(
    6,
  );
});

it.each([
  ['before', false],
  ['after', true],
])(
  'publishes a promised letter once where its writer died %s publishing it',
  async (_, isPublished) => {
    const jetstream = shard.nats.jetstream();
    const content = Buffer.from(`junk ${isPublished}`);
    const { seq } = await jetstream.publish(profilesSubject(0), content);
    await promise(seq, 1);
    if (isPublished) {
      const stream = profilesStream(0);
      const publishLetters = createDeadLetters({
        ...{
          broker: jetstream,
          shard: 0,
          stream,
          streamCreated: await streamCreated(shard.nats, stream),
        },
        ...{ maxPayloadBytes: 1_048_576, retry: (call) => call() },
      });
      await publishLetters(readProfileMessages([{ seq, data: content }]).deadLetters);
    }
    const writer = shard.startWriter();
    await writer.done(seq);
    await writer.stop();
    const letters = await deadLetters('');
    expect(letters.filter((letter) => 'seq' in letter && letter.seq === seq)).toMatchObject([
      { content: content.toString(), reason: 'frame_unreadable' },
    ]);
  },
);
