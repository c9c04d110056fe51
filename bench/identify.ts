// Identify, acknowledged and then readable: how many calls a second, and how long until the profile is there.

import { createHash } from 'node:crypto';
import type { Stack } from '../test/stack.ts';
import { type Bench, check } from './bench.ts';
import { openLoadConnection } from './load-connection.ts';
import { queryNumber, watchRows } from './stored-rows.ts';

interface Parameters {
  connections: number;
  durationMs: number;
}

const smoke: Parameters = { connections: 4, durationMs: 300 };
const real: Parameters = { connections: 64, durationMs: 10_000 };

const pollMs = 50;
const drainTimeoutMs = 60_000;
/** Every profile once, however many rows its changes left. */
const countProfiles =
  'SELECT count() FROM profiles FINAL WHERE NOT edge AND startsWith(distinct_id, ';

export const identifyBench: Bench = {
  name: 'identify',
  question: 'How many Identify calls a second are acknowledged, and how soon are they readable?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const prefix = `bench-${session.nextLoad()}-`;
    const count = `${countProfiles}'${prefix}')`;
    const watch = watchRows(stack, pollMs, count);
    const answeredAtMs = await load(stack, prefix, parameters);
    const acknowledged = answeredAtMs.length;
    const lastSeenMs = await watch.until(acknowledged, drainTimeoutMs);
    await watch.stop();
    check((await queryNumber(stack, count)) === acknowledged, `${acknowledged} profiles`);
    const lags = answeredAtMs
      .map((atMs, index) => Math.max(0, (watch.seenAtMs(index + 1) ?? lastSeenMs) - atMs))
      .sort((a, b) => a - b);
    const lagAt = (share: number): string =>
      Math.round(lags[Math.floor(share * (lags.length - 1))] ?? 0).toLocaleString('en-US');
    const perSecond = Math.round((1_000 * acknowledged) / parameters.durationMs);
    return {
      tables: [
        {
          title: `Identify with four traits and an anonymous id, ${parameters.connections} connections`,
          columns: ['', 'calls/s', 'readable p50 ms', 'p99 ms', 'last ms'],
          rows: [
            ['millrace', perSecond.toLocaleString('en-US'), lagAt(0.5), lagAt(0.99), lagAt(1)],
          ],
        },
      ],
      resultHash: createHash('sha256').update('one profile a call').digest('hex'),
    };
  },
};

/** When each call was answered, in milliseconds since the epoch, ascending. */
async function load(
  { baseUrl, publicKey }: Stack,
  prefix: string,
  { connections, durationMs }: Parameters,
): Promise<number[]> {
  const answeredAtMs: number[] = [];
  const endMs = Date.now() + durationMs;
  let next = 0;
  const request = (): Buffer => {
    const id = next++;
    const body = JSON.stringify({
      externalId: `${prefix}${id}`,
      anonymousId: `anon-${prefix}${id}`,
      traits: {
        plan: id % 3 === 0 ? 'pro' : 'free',
        seats: id % 100,
        email: `${id}@example.com`,
        active: true,
      },
    });
    return Buffer.from(
      'POST /sdk.profiles.v1.ProfilesSDKService/Identify HTTP/1.1\r\n' +
        `Host: ${new URL(baseUrl).host}\r\nContent-Type: application/json\r\nX-Api-Key: ${publicKey}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  };
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const open = openLoadConnection(baseUrl, () => ({
        onAnswer: ({ status }) => {
          if (status !== 200) return reject(new Error(`an Identify was answered ${status}`));
          answeredAtMs.push(Date.now());
          void proceed();
        },
        onBroken: reject,
      }));
      const proceed = async (): Promise<void> => {
        const connection = await open;
        if (Date.now() < endMs) return connection.send(request());
        connection.close();
        resolve();
      };
      void proceed().catch(reject);
    });
  await Promise.all(Array.from({ length: connections }, run));
  return answeredAtMs;
}
