// A port that somebody else has taken: their server may greet as it likes, and is sent nothing.

import { afterEach, describe, expect, it } from 'vitest';
import { startBroker } from '../../../test/harness/servers/broker.ts';
import { type Impostor, takePort, uidOfImpostor } from '../../../test/harness/servers/impostor.ts';
import { createLog } from '../../log.ts';
import { connectBroker } from '../nats.ts';
import { strangerAt } from './server-owner.ts';

const log = createLog('silent');
const ownUid = process.getuid?.() ?? 0;
const isRoot = ownUid === 0;
// Only root can start a process of another user. Everybody else expects another user where their own process is.
const expectedUid = isRoot ? ownUid : ownUid + 1;
let impostor: Impostor | undefined;

afterEach(() => impostor?.stop());

describe.each(['127.0.0.1', '0.0.0.0', '::'])('another user’s server at %s', (host) => {
  it('is told no password', async () => {
    impostor = await takePort(host);
    const { port, received } = impostor;
    const connected = connectBroker(
      `nats://service:secret@127.0.0.1:${port}?server-uid=${expectedUid}`,
      log,
    );
    await expect(connected).rejects.toThrow(
      `the broker at nats://127.0.0.1:${port} cannot be used: ` +
        `another user of this machine (id ${uidOfImpostor}) has taken its port`,
    );
    expect(received).toEqual([]);
  });
});

describe.runIf(isRoot)('another user’s server in the place of a broker that has died', () => {
  it('is sent nothing: the connection is closed, with the reason', async () => {
    const broker = await startBroker();
    const connection = await connectBroker(broker.url, log);
    const closed = connection.closed();
    const taking = takePort('127.0.0.1', Number(new URL(broker.url).port));
    await broker.kill9();
    impostor = await taking;
    expect(await closed).toMatchObject({
      message: `another user of this machine (id ${uidOfImpostor}) has taken its port`,
    });
    expect(impostor.received).toEqual([]);
    await broker.stop();
  });
});

it('finds nobody else at a port of one’s own, or at one that nobody serves', async () => {
  const broker = await startBroker();
  expect(strangerAt(Number(new URL(broker.url).port), ownUid)).toBeUndefined();
  await broker.stop();
  expect(strangerAt(1, ownUid)).toBeUndefined();
});
