import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from 'nats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorUrl, startBroker } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { createLog } from '../log.ts';
import {
  apiErrorCode,
  connectBroker,
  createErrorReport,
  createInbox,
  DiscardPolicy,
  followConnection,
  headers,
  type Msg,
  maxPayloadBytes,
  type NatsConnection,
  publishOutcome,
} from './nats.ts';

const log = createLog('silent');
let broker: ChildServer;
let connection: NatsConnection;

beforeEach(async () => {
  broker = await startBroker();
  // Its streams are none of the service's.
  connection = await connectBroker(operatorUrl(broker), log);
});

afterEach(async () => {
  await connection.close();
  await broker.stop();
});

/** Publishes with a reply inbox, like ingest, and returns the raw reply. */
async function rawPublish(subject: string, data: Uint8Array): Promise<Msg> {
  const inbox = createInbox();
  const replies = connection.subscribe(inbox, { max: 1 });
  connection.publish(subject, data, { reply: inbox });
  for await (const reply of replies) return reply;
  throw new Error('no reply');
}

function reply(value: unknown): { data: Uint8Array } {
  return { data: new TextEncoder().encode(JSON.stringify(value)) };
}

describe('publishOutcome', () => {
  it('tells stored, duplicate, full and unavailable apart on the broker’s own replies', async () => {
    const manager = await connection.jetstreamManager();
    await manager.streams.add({
      name: 'S',
      subjects: ['s'],
      discard: DiscardPolicy.New,
      max_bytes: 2_000,
    });
    const body = new Uint8Array(500);
    expect(publishOutcome(await rawPublish('s', body))).toEqual({
      kind: 'stored',
      seq: 1,
      duplicate: false,
    });
    const js = connection.jetstream();
    await js.publish('s', body, { msgID: 'once' });
    const again = headers();
    again.set('Nats-Msg-Id', 'once');
    const duplicate = await connection.request('s', body, { headers: again, timeout: 60_000 });
    expect(publishOutcome(duplicate)).toEqual({ kind: 'stored', seq: 2, duplicate: true });

    await js.publish('s', body);
    expect(publishOutcome(await rawPublish('s', body))).toEqual({ kind: 'full' });
    const thrown = await js.publish('s', body).catch((error: Error) => error);
    expect(thrown).toBeInstanceOf(Error);
    if (thrown instanceof Error) expect(publishOutcome(thrown)).toEqual({ kind: 'full' });
    expect(publishOutcome(await rawPublish('nobody', body))).toEqual({
      kind: 'unavailable',
      reason: 'no stream',
    });
    const missing = await manager.streams.info('NOPE').catch((error: unknown) => error);
    expect(apiErrorCode(missing)).toBe(10_059);
  });

  it('calls only a full store full, since after another refusal the message may be stored', () => {
    const refusal = (err_code: number, description: string) =>
      publishOutcome(reply({ error: { code: 503, err_code, description }, seq: 0 }));
    expect(refusal(10_077, 'maximum messages exceeded')).toEqual({ kind: 'full' });
    expect(refusal(10_077, 'no space left on device')).toEqual({
      kind: 'unavailable',
      reason: 'no space left on device (10077)',
    });
    expect(refusal(10_023, 'insufficient resources')).toEqual({ kind: 'full' });
    expect(refusal(10_008, 'jetstream system temporarily unavailable')).toEqual({
      kind: 'unavailable',
      reason: 'jetstream system temporarily unavailable (10008)',
    });
  });

  it('calls a message stored only after an acknowledgement', () => {
    for (const value of [null, 7, [], {}, { seq: 0 }, { seq: '7' }, { stream: 'S' }]) {
      expect(publishOutcome(reply(value)).kind).toBe('unavailable');
    }
    expect(publishOutcome({ data: new Uint8Array([0x7b]) }).kind).toBe('unavailable');
    expect(publishOutcome({ data: new Uint8Array(0) })).toEqual({
      kind: 'unavailable',
      reason: 'status 0',
    });
    expect(publishOutcome(new Error('deadline'))).toEqual({
      kind: 'unavailable',
      reason: 'deadline',
    });
  });
});

describe('connectBroker', () => {
  it('tells the largest message', () => {
    expect(maxPayloadBytes(connection)).toBe(9 * 1_048_576);
  });

  it('reconnects by itself after the broker was killed, and reports the loss and the return', async () => {
    const state = followConnection(connection);
    const change = () => new Promise<boolean>((resolve) => state.onChange(resolve));
    expect(state.connected()).toBe(true);

    const lost = change();
    await broker.kill9();
    expect(await lost).toBe(false);
    expect(state.connected()).toBe(false);

    const back = change();
    await broker.restart();
    expect(await back).toBe(true);
    expect(state.connected()).toBe(true);
    await connection.flush();

    const closed = change();
    await connection.close();
    expect(await closed).toBe(false);
  });

  it('logs in with the user and password of the URL, and does not try a refused login again', async () => {
    const users = [{ user: 'me', password: 'p@ss' }];
    const closed = await startBroker({ configuration: { authorization: { users } } });
    const host = new URL(closed.url).host;
    const welcome = await connectBroker(`nats://me:p%40ss@${host}`, log);
    await welcome.close();
    const refused = connectBroker(`nats://me:wrong@${host}`, log, { firstConnectMs: 3_600_000 });
    await expect(refused).rejects.toThrow(refusal(host));
    await closed.stop();
  });

  it('logs in with a token alone', async () => {
    const closed = await startBroker({ configuration: { authorization: { token: 't0ken' } } });
    const host = new URL(closed.url).host;
    await (await connectBroker(`nats://t0ken@${host}`, log)).close();
    await expect(connectBroker(`nats://other@${host}`, log)).rejects.toThrow(refusal(host));
    await closed.stop();
  });

  it('logs in with a file of credentials, and says where it holds none', async () => {
    const { configuration, credentials } = operatorMode();
    const closed = await startBroker({ configuration });
    const host = new URL(closed.url).host;
    const file = join(closed.dir, 'millrace.creds');
    writeFileSync(file, credentials);
    const connected = await connectBroker(`nats://${host}?creds=${encodeURIComponent(file)}`, log);
    await connected.flush();
    await connected.close();
    await expect(connectBroker(`nats://${host}`, log)).rejects.toThrow(refusal(host));
    writeFileSync(file, 'nothing');
    await expect(connectBroker(`nats://${host}?creds=${file}`, log)).rejects.toThrow(
      `the broker at nats://${host} cannot be used: the file of its credentials holds none`,
    );
    await expect(connectBroker(`nats://${host}?creds=/no/such`, log)).rejects.toThrow(
      `the broker at nats://${host} cannot be used: ENOENT`,
    );
    await closed.stop();
  });

  it('gives up with one sentence that does not reveal the password', async () => {
    const url = `nats://me:secret@127.0.0.1:1`;
    const failed = connectBroker(url, log, { firstConnectMs: 300 });
    await expect(failed).rejects.toThrow(
      'the broker at nats://127.0.0.1:1 cannot be used: nothing listens there',
    );
  });
});

type KeyPair = ReturnType<typeof nkeys.createUser>;

function refusal(host: string): string {
  return `the broker at nats://${host} cannot be used: it refuses the user, password, token or credentials`;
}

/** A broker whose users an operator signs, and the file of one user. */
function operatorMode(): { configuration: Record<string, unknown>; credentials: string } {
  const [operator, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const base64url = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (signer: KeyPair, subject: KeyPair, nats: object): string => {
    const claims = { iss: signer.getPublicKey(), sub: subject.getPublicKey(), iat: 1, nats };
    const signed = `${base64url({ typ: 'JWT', alg: 'ed25519-nkey' })}.${base64url(claims)}`;
    return `${signed}.${Buffer.from(signer.sign(Buffer.from(signed))).toString('base64url')}`;
  };
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const trusted = token(operator, operator, { type: 'operator', version: 2 });
  const ours = token(operator, account, { type: 'account', version: 2, limits });
  const login = token(account, user, { type: 'user', version: 2, ...unlimited });
  const part = (name: string, text: string): string =>
    `-----BEGIN ${name}-----\n${text}\n------END ${name}------\n`;
  return {
    configuration: {
      ...{ authorization: undefined, jetstream: undefined },
      ...{ operator: trusted, resolver: 'MEMORY' },
      resolver_preload: { [account.getPublicKey()]: ours },
    },
    credentials:
      part('NATS USER JWT', login) +
      part('USER NKEY SEED', new TextDecoder().decode(user.getSeed())),
  };
}

it('errors of a broker are logged once a minute, with the number of those between', () => {
  let nowMs = 0;
  const lines: unknown[] = [];
  const report = createErrorReport(
    { error: (fields: unknown) => void lines.push(fields) },
    () => nowMs,
  );
  for (; nowMs < 120_000; nowMs += 10_000) report({ error: 'PERMISSIONS_VIOLATION' });
  expect(lines).toEqual([
    { error: 'PERMISSIONS_VIOLATION', untold: 0 },
    { error: 'PERMISSIONS_VIOLATION', untold: 5 },
  ]);
});
