// SIGKILL of the service while a mail server has a report's mail and has not answered yet: after the next start the
// recipient gets the report all the same, under the same id. reports/sending/take-turn.test.ts dies at every step.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker } from '../platform/broker/nats.ts';
import { fieldOf } from '../platform/json.ts';
import { createLog } from '../platform/log.ts';
import { call, eventually } from './harness/clients/client.ts';
import { startMailServer, type TestMailServer } from './harness/servers/mail-server.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
let mailServer: TestMailServer;
/** Called before the first mail is taken. */
let onFirstMail: () => void = () => {};

beforeAll(async () => {
  mailServer = await startMailServer({
    hideSTARTTLS: true,
    onMessage: (count) => {
      if (count === 1) onFirstMail();
    },
  });
  stack = await startStack({
    env: { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}?tls=optional` },
  });
});
afterAll(async () => {
  await stack.stop();
  await mailServer.close();
});

/** A method of ReportsService, as the demo's admin; throws where it is refused. */
async function reports(method: string, message: object): Promise<unknown> {
  const { baseUrl, projectId, dataDir } = stack;
  const file = join(dataDir, 'demo-admin.json');
  const { adminEmail: email, adminPassword: password } = JSON.parse(readFileSync(file, 'utf8'));
  const signIn = '/public.auth.v1.AuthService/SignIn';
  const signedIn = await call(baseUrl, signIn, '', { email, password });
  const authorization = `Bearer ${signedIn.body['accessToken']}`;
  const headers = { authorization, 'x-project-id': projectId };
  const path = `/dashboard.reports.v1.ReportsService/${method}`;
  const { status, body } = await call(baseUrl, path, '', message, headers);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Makes the only report two days old, so that its newest run is due at once. */
async function makeOlder(): Promise<void> {
  const connection = await connectBroker(stack.natsUrl, createLog('silent'));
  const kv = await connection.jetstream().views.kv(buckets.projectItems, { bindOnly: true });
  const key = `reports.${stack.projectId}`;
  const found = await kv.get(key);
  if (found === null) throw new Error('the report is not stored');
  const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
  const text = found
    .string()
    .replace(/"activeTime":"[^"]*"/, `"activeTime":"${days(2)}"`)
    .replace(/"updateTime":"[^"]*"/, `"updateTime":"${days(1)}"`);
  await kv.update(key, text, found.revision);
  await connection.close();
}

const messageIds = () =>
  mailServer.received.map(({ text }) => /^Message-ID:\s+(<[^>]+>)/im.exec(text)?.[1]);

it('a report is mailed after a kill, under the same Message-ID, and once in its history', async () => {
  const killed = new Promise<void>((resolve) => {
    onFirstMail = () => {
      stack.kill9('service');
      resolve();
    };
  });
  const schedule = { frequency: 'REPORT_FREQUENCY_DAILY', hour: new Date().getUTCHours() };
  const made = { displayName: 'Every day', dashboardId: 'overview', schedule };
  const id = fieldOf(fieldOf(await reports('Create', made), 'report'), 'id');
  await makeOlder();
  await killed;
  stack = await stack.restart();
  // The dead process's lease ends within two minutes.
  await eventually(
    async () => mailServer.received.length,
    (count) => count === 2,
    300_000,
  );
  expect(new Set(messageIds()).size).toBe(1);
  const runs = await eventually(
    async () => fieldOf(await reports('Get', { id }), 'runs'),
    (found) => JSON.stringify(found).includes('REPORT_RUN_STATE_SENT'),
  );
  expect(runs).toHaveLength(1);
});
