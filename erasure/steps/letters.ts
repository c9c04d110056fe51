// What the broker and the log of webhooks have of the persons: dead letters, which hold what senders sent, deliveries
// that wait, and attempts with their payloads. Messages are erased one by one: the broker overwrites their bytes.

import type { JetStreamManager } from '../../platform/broker/nats.ts';
import { messageAt } from '../../platform/broker/queues/message-at.ts';
import { deadLetterStream } from '../../platform/broker/streams.ts';
import { type ErasureRecord, unpackIds } from '../../platform/erasure/erasure-record.ts';
import { mentions, namesOf } from '../../platform/erasure/mentions.ts';
import { webhookStreams } from '../../platform/webhooks/webhook-streams.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { idLiterals, projectsSql } from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';
import { remove } from './cut.ts';
import { textOf } from './hide-and-find.ts';

/** The texts of a project's persons. */
interface Texts {
  projectId: string;
  texts: readonly string[];
}

/** Deliveries of one statement. */
const deliveriesAtOnce = 10_000;

export async function eraseLetters(parts: ErasureParts, context: StepContext): Promise<StepEnd> {
  const { nats, clickhouse, box } = parts;
  const persons: Texts[] = [];
  for (const request of context.requests) {
    const own = await textOf(box, context.store, request);
    const texts = new Set(await textsOf(context.store, request));
    if (own !== undefined) texts.add(own);
    persons.push({ projectId: request.projectId, texts: [...texts] });
  }
  const { streams } = await nats.jetstreamManager();
  const names = persons.map(({ projectId, texts }) => ({ projectId, names: namesOf(texts) }));
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
  for (const person of persons) await eraseAttempts(clickhouse.first, person);
  return 'done';
}

/** The ids of a person as senders write them. */
async function textsOf(store: StepContext['store'], request: ErasureRecord): Promise<string[]> {
  const ids = idLiterals(unpackIds(request.ids));
  const where = `WHERE ${projectsSql([request.projectId])} AND profile_id IN (${ids})`;
  const rows = await selectRows(store, `SELECT DISTINCT distinct_id FROM profiles ${where}`);
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
  store: StepContext['store'],
  { projectId, texts }: Texts,
): Promise<void> {
  const found = await selectRows(
    store,
    `SELECT DISTINCT delivery_id FROM webhook_attempts WHERE project_id = {project:String} AND is_first
      AND JSONExtractString(payload, 'data', 'distinctId') IN {texts:Array(String)}`,
    { project: projectId, texts },
  );
  const deliveries = found.map(([id]) => String(id)).filter((id) => /^[\w-]+$/.test(id));
  for (let at = 0; at < deliveries.length; at += deliveriesAtOnce) {
    const some = deliveries.slice(at, at + deliveriesAtOnce).join("', '");
    await remove(
      store,
      'webhook_attempts',
      `${projectsSql([projectId])} AND delivery_id IN ('${some}')`,
    );
  }
}
