// What the broker and the log of webhooks have of the persons: dead letters, which hold what senders sent, deliveries
// that wait, and attempts with their payloads. Messages are erased one by one: the broker overwrites their bytes.

import type { JetStreamManager } from '../../platform/broker/nats.ts';
import { messageAt } from '../../platform/broker/queues/message-at.ts';
import { deadLetterStream } from '../../platform/broker/streams.ts';
import { type ErasureRecord, unpackIds } from '../../platform/erasure/erasure-record.ts';
import { mentions, type Names, namesOf } from '../../platform/erasure/mentions.ts';
import { webhookStreams } from '../../platform/webhooks/webhook-streams.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { selectAttempts } from '../tables/attempt-rows.ts';
import {
  keyOf,
  keysSql,
  personsOf,
  plainId,
  profileIdsSql,
  projectsSql,
} from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';
import { remove } from './cut.ts';
import { openId } from './hide-and-find.ts';

/** Deliveries or letters of one statement. */
const atOnce = 10_000;

export async function eraseLetters(parts: ErasureParts, context: StepContext): Promise<StepEnd> {
  const names = await namesOfAll(parts.box, context);
  const { streams } = await parts.nats.jetstreamManager();
  const { renew } = context;
  const projectOf: ProjectOf = (project, data) =>
    names.find(
      (person) => (project === '' || project === person.projectId) && mentions(data, person.names),
    )?.projectId;
  await eraseMessages(streams, deadLetterStream, {
    ...{ projectOf, renew },
    before: (found) => eraseLetterRows(context, found),
  });
  for (const stream of webhookStreams) await eraseMessages(streams, stream, { projectOf, renew });
  await eraseAttempts(parts, context);
  return 'done';
}

/** Each person by the id that the request names, and by those of their rows. Throws IdLost. */
async function namesOfAll(
  box: ErasureParts['box'],
  { requests, store }: StepContext,
): Promise<{ projectId: string; names: Names }[]> {
  const texts = await textsOf(store, requests);
  return requests.map(({ requestId, projectId, sealedId, ids }) => {
    const own = sealedId === '' ? [] : [openId(box, { requestId, sealedId })];
    const ofRows = unpackIds(ids).flatMap((id) => texts.get(`${projectId} ${keyOf(id)}`) ?? []);
    return { projectId, names: namesOf([...new Set([...own, ...ofRows])]) };
  });
}

/** The ids of the persons as senders write them, by project and key: late rows may be events alone. */
async function textsOf(
  store: StepContext['store'],
  requests: readonly ErasureRecord[],
): Promise<Map<string, string[]>> {
  const persons = personsOf(requests);
  const rows = await selectRows(
    store,
    `SELECT project_id, toString(reinterpretAsUInt64(substring(profile_id, 1, 8))) AS key, groupUniqArray(distinct_id)
      FROM profiles WHERE ${profileIdsSql(persons)} GROUP BY project_id, key
    UNION ALL
    SELECT project_id, toString(profile_key) AS key, groupUniqArray(distinct_id) FROM events
      WHERE ${keysSql(persons)} AND NOT cookieless GROUP BY project_id, key`,
  );
  const texts = new Map<string, string[]>();
  for (const [project, key, some] of rows) {
    const person = `${project} ${key}`;
    const more = Array.isArray(some) ? some.map(String) : [];
    texts.set(person, [...(texts.get(person) ?? []), ...more]);
  }
  return texts;
}

interface FoundMessage {
  seq: number;
  projectId: string;
  /** Of a dead letter: which message it was. */
  shard: number;
  letterSeq: number;
}

/** The project of a message that is to be erased; `project` is what its header says, or empty. */
type ProjectOf = (project: string, data: Uint8Array) => string | undefined;

interface Erased {
  projectOf: ProjectOf;
  renew: StepContext['renew'];
  /** Is done before the first message is erased: nobody finds it again afterwards. */
  before?(found: readonly FoundMessage[]): Promise<void>;
}

/** Erases the messages of one stream, each by its place. */
export async function eraseMessages(
  streams: JetStreamManager['streams'],
  stream: string,
  { projectOf, renew, before }: Erased,
): Promise<void> {
  const { state } = await streams.info(stream);
  const found: FoundMessage[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
    await renew();
    const message = await messageAt({ streams }, stream, seq);
    if (message === undefined) continue;
    const projectId = projectOf(message.header.get('Millrace-Project'), message.data);
    if (projectId === undefined) continue;
    const shard = Number(message.subject.split('.').at(-1));
    const letterSeq = Number(message.header.get('Millrace-Stream-Seq'));
    found.push({ seq, projectId, shard, letterSeq });
  }
  await before?.(found);
  for (const { seq } of found) {
    await renew();
    await streams.deleteMessage(stream, seq, true);
  }
}

async function eraseLetterRows(
  { store, renew }: StepContext,
  letters: readonly FoundMessage[],
): Promise<void> {
  for (let at = 0; at < letters.length; at += atOnce) {
    const some = letters.slice(at, at + atOnce);
    const places = some.map(
      ({ projectId, shard, letterSeq }) => `('${plainId(projectId)}', ${shard}, ${letterSeq})`,
    );
    const projects = projectsSql([...new Set(some.map(({ projectId }) => projectId))]);
    await renew();
    await remove(
      store,
      'dead_letters',
      `${projects} AND (project_id, shard, stream_seq) IN (${places.join(', ')})`,
    );
  }
}

/** All attempts of each delivery whose payload names one of the persons: a receiver's answer may repeat it. */
async function eraseAttempts(
  { clickhouse: { first: log } }: ErasureParts,
  { requests, store, renew }: StepContext,
): Promise<void> {
  const persons = personsOf(requests);
  await renew();
  const found = await selectAttempts(
    { store, log },
    persons,
    (rows) => `SELECT DISTINCT delivery_id FROM webhook_attempts WHERE ${rows}`,
  );
  const deliveries = found.map(([id]) => String(id)).filter((id) => /^[\w-]+$/.test(id));
  for (let at = 0; at < deliveries.length; at += atOnce) {
    const some = deliveries.slice(at, at + atOnce).join("', '");
    await renew();
    await remove(
      log,
      'webhook_attempts',
      `${projectsSql(persons.projectIds)} AND delivery_id IN ('${some}')`,
    );
  }
}
