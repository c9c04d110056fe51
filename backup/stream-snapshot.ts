// Snapshots of streams, as the broker itself makes and takes them (its API STREAM.SNAPSHOT and STREAM.RESTORE): with
// sequences, times and gaps. Consumers are left out: a start makes them, and they begin at the first message there is.

import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { createInbox, type Msg, type NatsConnection, NatsError } from '../platform/broker/nats.ts';
import { fieldOf, isObject } from '../platform/json.ts';
import { type SavedStream, streamFile } from './manifest.ts';
import { openFile } from './saved-files.ts';

const pieceBytes = 131_072;
const requestTimeoutMs = 30_000;
/** Of a silence amid a snapshot. */
const pieceTimeoutMs = 60_000;
/** The broker reads what it was given before it answers. */
const restoredTimeoutMs = 600_000;

/** Throws one sentence where the broker's user may not, and where the broker stops amid it. */
export async function saveStream(
  connection: NatsConnection,
  name: string,
  directory: string,
): Promise<SavedStream> {
  const file = openFile(join(directory, 'streams', `${name}.part`));
  const inbox = createInbox();
  const arrival = receive(connection, inbox, (piece) => file.write(piece));
  try {
    const answer = await ask(connection, `$JS.API.STREAM.SNAPSHOT.${name}`, {
      deliver_subject: inbox,
      no_consumers: true,
      chunk_size: pieceBytes,
    });
    const { config, state } = snapshotOf(answer, name);
    await arrival.done;
    const saved = file.end((sha256) => streamFile(directory, name, sha256));
    return { name, config, ...state, ...saved };
  } catch (error) {
    file.abandon();
    throw error;
  } finally {
    arrival.stop();
  }
}

/** Hands out pieces; each is answered once it is written, so that the broker sends no more than is taken. */
function receive(
  connection: NatsConnection,
  inbox: string,
  write: (piece: Uint8Array) => void,
): { done: Promise<void>; stop(): void } {
  let settle: { resolve(): void; reject(error: unknown): void } | undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Nobody may wait for it yet when it fails.
  done.catch(() => {});
  const late = (): void => settle?.reject(new Error('the broker has stopped amid a snapshot'));
  let timer = setTimeout(late, pieceTimeoutMs);
  const subscription = connection.subscribe(inbox, {
    callback(error, message) {
      clearTimeout(timer);
      timer = setTimeout(late, pieceTimeoutMs);
      try {
        if (error !== null) throw error;
        if (message.data.length > 0) {
          write(message.data);
          message.respond();
          return;
        }
        // A status other than the end's own tells why the broker gave up.
        const status = message.headers?.code ?? 0;
        if (status >= 300) throw new Error(`the broker has ended a snapshot with status ${status}`);
        settle?.resolve();
      } catch (failure) {
        settle?.reject(failure);
      }
    },
  });
  return {
    done,
    stop() {
      clearTimeout(timer);
      subscription.unsubscribe();
    },
  };
}

/** Makes the stream with one copy: a start makes more where it should. Throws one sentence where it is there. */
export async function restoreStream(
  connection: NatsConnection,
  saved: SavedStream,
  directory: string,
): Promise<void> {
  const { name, messages, lastSeq } = saved;
  const { placement: _, ...config } = saved.config;
  const begun = await ask(connection, `$JS.API.STREAM.RESTORE.${name}`, {
    config: { ...config, num_replicas: 1 },
    state: { messages, last_seq: lastSeq, bytes: saved.bytes },
  });
  const subject = textField(begun, 'deliver_subject');
  if (subject === undefined) throw refusal(name, 'restore', begun);
  const file = openSync(streamFile(directory, name, saved.sha256), 'r');
  try {
    for (;;) {
      // A new one each time: the client may send it after this turn.
      const piece = Buffer.alloc(pieceBytes);
      const read = readSync(file, piece, 0, pieceBytes, null);
      if (read === 0) break;
      const taken = await connection.request(subject, piece.subarray(0, read), {
        timeout: pieceTimeoutMs,
      });
      if (taken.data.length > 0) throw refusal(name, 'restore', readJson(taken));
    }
  } finally {
    closeSync(file);
  }
  const end = await connection.request(subject, new Uint8Array(), { timeout: restoredTimeoutMs });
  const answer = readJson(end);
  const state: unknown = fieldOf(answer, 'state');
  if (typeof fieldOf(state, 'last_seq') !== 'number') throw refusal(name, 'restore', answer);
}

async function ask(connection: NatsConnection, subject: string, request: object): Promise<unknown> {
  try {
    const text = JSON.stringify(request);
    return readJson(await connection.request(subject, text, { timeout: requestTimeoutMs }));
  } catch (error) {
    if (error instanceof NatsError && error.isPermissionError()) {
      throw new Error(
        "the broker's user may not take or restore snapshots of streams: name one in NATS_URL that may, as the " +
          'operator of setup/nats.conf',
        { cause: error },
      );
    }
    throw error;
  }
}

function snapshotOf(answer: unknown, name: string) {
  const config = fieldOf(answer, 'config');
  const state = fieldOf(answer, 'state');
  const messages = fieldOf(state, 'messages');
  const lastSeq = fieldOf(state, 'last_seq');
  if (!isObject(config) || typeof messages !== 'number' || typeof lastSeq !== 'number') {
    throw refusal(name, 'snapshot', answer);
  }
  return { config, state: { messages, lastSeq } };
}

function refusal(name: string, what: string, answer: unknown): Error {
  const reason = textField(fieldOf(answer, 'error'), 'description') ?? 'it does not say why';
  return new Error(`the broker refuses a ${what} of the stream ${name}: ${reason}`);
}

function readJson(message: Msg): unknown {
  return JSON.parse(Buffer.from(message.data).toString('utf8'));
}

function textField(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === 'string' ? field : undefined;
}
