// What the broker and the log of webhooks have of the persons: dead letters, which hold what senders sent, deliveries
// that wait, and attempts with their payloads. Messages are erased one by one: the broker overwrites their bytes.

import type { JetStreamManager } from '../../platform/broker/nats.ts';
import { messageAt } from '../../platform/broker/queues/message-at.ts';
import { deadLetterStream } from '../../platform/broker/streams.ts';
import type { ErasureRecord } from '../../platform/erasure/erasure-record.ts';
import { mentions, type Names, namesOf } from '../../platform/erasure/mentions.ts';
import { webhookStreams } from '../../platform/webhooks/webhook-streams.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { firstAttemptsSql } from '../tables/attempt-rows.ts';
import { keysSql, personsOf, profileIdsSql, projectsSql } from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';
import { remove } from './cut.ts';
import { textOf } from './hide-and-find.ts';

/** Deliveries of one statement. */
const deliveriesAtOnce = 10_000;

export async function eraseLetters(parts: ErasureParts, context: StepContext): Promise<StepEnd> {
  const { nats, box } = parts;
  const names: { projectId: string; names: Names }[] = [];
  for (const request of context.requests) {
    const own = await textOf(box, context.store, request);
    const texts = new Set(await textsOf(context.store, request));
    if (own !== undefined) texts.add(own);
    names.push({ projectId: request.projectId, names: namesOf([...texts]) });
  }
  const { streams } = await nats.jetstreamManager();
  const projectOf: ProjectOf = (project, data) =>
    names.find(
      (person) => (project === '' || project === person.projectId) && mentions(data, person.names),
    )?.projectId;
  const letters = await eraseMessages(streams, deadLetterStream, projectOf);
  for (const { shard, seq, projectId } of letters) {
    const place = `shard = ${shard} AND stream_seq = ${seq}`;
    await remove(context.store, 'dead_letters', `${projectsSql([projectId])} AND ${place}`);
  }
  for (const stream of webhookStreams) await eraseMessages(streams, stream, projectOf);
  for (const request of context.requests) await eraseAttempts(parts, context.store, request);
  return 'done';
}

/** The ids of a person as senders write them: late rows may be events alone. */
async function textsOf(store: StepContext['store'], request: ErasureRecord): Promise<string[]> {
  const person = personsOf([request]);
  const rows = await selectRows(
    store,
    `SELECT distinct_id FROM profiles WHERE ${profileIdsSql(person)}
      UNION DISTINCT SELECT distinct_id FROM events WHERE ${keysSql(person)} AND NOT cookieless`,
  );
  return rows.map(([text]) => String(text));
}

interface ErasedLetter {
  projectId: string;
  shard: number;
  seq: number;
}

/** The project of a message that is to be erased; `project` is what its header says, or empty. */
export type ProjectOf = (project: string, data: Uint8Array) => string | undefined;

/** Erases the messages of one stream, each by its place; returns the dead letters among them. */
export async function eraseMessages(
  streams: JetStreamManager['streams'],
  stream: string,
  projectOf: ProjectOf,
): Promise<ErasedLetter[]> {
  const { state } = await streams.info(stream);
  const erased: ErasedLetter[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
    const message = await messageAt({ streams }, stream, seq);
    if (message === undefined) continue;
    const projectId = projectOf(message.header.get('Millrace-Project'), message.data);
    if (projectId === undefined) continue;
    await streams.deleteMessage(stream, seq, true);
    const shard = Number(message.subject.split('.').at(-1));
    const letterSeq = Number(message.header.get('Millrace-Stream-Seq'));
    if (stream === deadLetterStream) erased.push({ projectId, shard, seq: letterSeq });
  }
  return erased;
}

/** All attempts of each delivery whose payload names the person: a receiver's answer may repeat it. */
async function eraseAttempts(
  parts: ErasureParts,
  store: StepContext['store'],
  request: ErasureRecord,
): Promise<void> {
  const log = parts.clickhouse.first;
  const { rows } = await firstAttemptsSql(store, personsOf([request]));
  const found = await selectRows(
    log,
    `SELECT DISTINCT delivery_id FROM webhook_attempts WHERE ${rows}`,
  );
  const deliveries = found.map(([id]) => String(id)).filter((id) => /^[\w-]+$/.test(id));
  for (let at = 0; at < deliveries.length; at += deliveriesAtOnce) {
    const some = deliveries.slice(at, at + deliveriesAtOnce).join("', '");
    await remove(
      log,
      'webhook_attempts',
      `${projectsSql([request.projectId])} AND delivery_id IN ('${some}')`,
    );
  }
}
