// What the pipeline tells live views of a batch, and that it tells nothing of a project that nobody watches.

import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { connectBroker } from '../../platform/broker/nats.ts';
import { liveSubject } from '../../platform/live/live-subjects.ts';
import { createLog } from '../../platform/log.ts';
import { decodeVerdict } from '../../proto/wire/live/verdict-message.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { Repeats } from '../build/repeats.ts';
import { SessionlessTable } from '../build/sessionless-rows.ts';
import type { DoneBatch } from '../write/writer.ts';
import { tellVerdicts } from './verdicts.ts';
import { hearWatchedProjects } from './watched-projects.ts';

const broker = useBroker();
const log = createLog('silent');
const [watched, other] = [randomUUID(), randomUUID()];
const counts = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 };

/** Rows of both projects in turns, the row's number in each byte of its id. */
function batchOf(rows: number, dropped: readonly number[]): DoneBatch {
  const eventIds = new Uint8Array(16 * rows).map((_, at) => Math.floor(at / 16));
  const bits = new Uint8Array(Math.ceil(rows / 8));
  for (const row of dropped) bits[row >>> 3] = (bits[row >>> 3] ?? 0) | (1 << (row & 7));
  const repeats = new Repeats();
  repeats.add(0, new Uint32Array(4).fill(0xabababab), 0);
  const letter = { streamSeq: 1, request: 0, receiveTimeMs: 1, events: 1 } as const;
  const content = Buffer.from(JSON.stringify({ kind: 'lost', eventId: watched }));
  const reason = 'property_unreadable';
  return {
    pending: { seqs: [], inserts: [], counts, dropped: Buffer.from(bits).toString('base64') },
    ids: {
      ...{ rows, eventIds, firstSeq: 1, lastSeq: 1, minReceiveTimeMs: 0, maxReceiveTimeMs: 0 },
      keys: new Uint32Array(2 * rows),
      projectOf: new Int32Array(rows).map((_, row) => row % 2),
      projects: [watched, other],
      occurTimesMs: new Float64Array(rows),
      repeats: repeats.snapshot(),
      sessionless: new SessionlessTable().snapshot(),
    },
    partitions: 1,
    deadLetters: [
      { ...letter, event: 0, reason, projectId: watched, content },
      { ...letter, event: undefined, reason, projectId: watched, content, events: 4 },
      { ...letter, event: 1, reason, projectId: other, content },
    ],
    totals: counts,
    waitsMs: {},
  };
}

function told(done: DoneBatch, isWatched: (projectId: string) => boolean) {
  const messages = new Map<string, Uint8Array>();
  const send = (subject: string, content: Uint8Array): void => void messages.set(subject, content);
  tellVerdicts(done, { send, isWatched, nowMs: () => 5, log });
  return messages;
}

it('tells nobody of what nobody watches', () => {
  expect(told(batchOf(10, []), () => false).size).toBe(0);
  const subjects = [...told(batchOf(10, []), (projectId) => projectId === watched).keys()];
  expect(subjects).toEqual([liveSubject('watch', watched)]);
});

it('names the events of the project by their outcome', () => {
  const messages = told(batchOf(10, [2, 3]), (projectId) => projectId === watched);
  const [content = new Uint8Array()] = messages.values();
  const verdict = decodeVerdict(content);
  expect(verdict).toMatchObject({ timeMs: 5, stored: 4, duplicates: 2, dead: 5 });
  const firstBytes = (ids: Uint8Array | undefined) =>
    [...(ids ?? [])].filter((_, at) => at % 16 === 0);
  expect(firstBytes(verdict?.storedIds)).toEqual([0, 4, 6, 8]);
  expect(firstBytes(verdict?.duplicateIds)).toEqual([2, 0xab]);
  const reason = 'property_unreadable';
  expect(verdict?.deadEvents).toEqual([
    { reason, kind: 'lost', eventId: watched },
    { reason, kind: '', eventId: '' },
  ]);
});

it('of a large batch names a part, and counts all', () => {
  const messages = told(batchOf(50_000, []), (projectId) => projectId === watched);
  const [content = new Uint8Array()] = messages.values();
  expect(content.length).toBeLessThan(64_000);
  const verdict = decodeVerdict(content);
  expect(verdict?.stored).toBe(25_000);
  expect((verdict?.storedIds.length ?? 0) / 16).toBeGreaterThan(1_500);
});

it('believes for six seconds that a project is watched, and takes no other name', async () => {
  const nats = await connectBroker(broker.url, log);
  onTestFinished(() => nats.close());
  let nowMs = 0;
  const projects = hearWatchedProjects(nats, { nowMs: () => nowMs });
  for (const subject of [liveSubject('watching', watched) ?? '', 'watching.everybody']) {
    nats.publish(subject);
  }
  await nats.flush();
  expect([watched, other, 'everybody'].map(projects.isWatched)).toEqual([true, false, false]);
  nowMs = 6_001;
  expect(projects.isWatched(watched)).toBe(false);
  projects.close();
});
