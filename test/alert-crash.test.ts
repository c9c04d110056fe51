// SIGKILL of the service while a mail server has an alert's mail and has not answered yet: after the next start the
// change of state is told all the same, under the same ids. alerts/looking/take-turn.test.ts dies at every step.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, eventually } from './harness/clients/client.ts';
import { startMailServer, type TestMailServer } from './harness/servers/mail-server.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import { type Receiver, startReceiver } from './harness/webhooks/receiver.ts';

let stack: Stack;
let mailServer: TestMailServer;
let receiver: Receiver;
/** Called before the first mail is taken. */
let onFirstMail: () => void = () => {};

beforeAll(async () => {
  receiver = await startReceiver({});
  mailServer = await startMailServer({
    hideSTARTTLS: true,
    onMessage: (count) => {
      if (count === 1) onFirstMail();
    },
  });
  stack = await startStack({
    env: {
      SMTP_URL: `smtp://127.0.0.1:${mailServer.port}?tls=optional`,
      MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8',
    },
  });
});
afterAll(async () => {
  await stack.stop();
  await mailServer.close();
  await receiver.close();
});

/** A method or a resource of the dashboard, as the demo's admin; throws where it is refused. */
async function manage(path: string, message: object): Promise<Record<string, unknown>> {
  const { baseUrl, projectId, dataDir } = stack;
  const { adminEmail: email, adminPassword: password } = JSON.parse(
    readFileSync(join(dataDir, 'demo-admin.json'), 'utf8'),
  );
  const signedIn = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', {
    email,
    password,
  });
  const authorization = `Bearer ${signedIn.body['accessToken']}`;
  const headers = { authorization, 'x-project-id': projectId };
  const { status, body } = await call(baseUrl, path, '', message, headers);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const messageIds = () =>
  mailServer.received.map(({ text }) => /^Message-ID:\s+(<[^>]+>)/im.exec(text)?.[1]);

it('a change of state is told after a kill, its delivery once and its mail under the same Message-ID', async () => {
  const subscription = {
    subject_type: 'WEBHOOK_SUBJECT_TYPE_PROJECT',
    subject_id: stack.projectId,
    subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_ALERT',
  };
  const content = {
    ...{ name: 'CRM', endpoint_url: receiver.url('/alerts') },
    subscriptions: [subscription],
  };
  await manage(`/v1/organizations/${stack.organizationId}/webhooks`, { content });
  const killed = new Promise<void>((resolve) => {
    onFirstMail = () => {
      stack.kill9('service');
      resolve();
    };
  });
  const event = { kind: 'nobody_sends_it' };
  await manage('/dashboard.alerts.v1.AlertsService/Create', {
    displayName: 'Nothing',
    spec: { insightType: 'INSIGHT_TYPE_TRENDS', events: [{ event }] },
    condition: { kind: 'ALERT_CONDITION_KIND_BELOW', threshold: 1 },
    interval: 'ALERT_INTERVAL_FIVE_MINUTES',
  });
  await killed;
  stack = await stack.restart();
  // The dead process's lease ends within a minute.
  await eventually(
    async () => mailServer.received.length,
    (count) => count === 2,
    300_000,
  );
  expect(new Set(messageIds()).size).toBe(1);
  await eventually(
    async () => receiver.received.length,
    (count) => count > 0,
  );
  expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(
    1,
  );
  const body = JSON.parse(receiver.received[0]?.body ?? '');
  expect(body).toMatchObject({
    eventType: 'alert',
    data: { state: 'ALERT_STATE_FIRING', value: 0 },
  });
  expect(messageIds()[0]).toContain(body.data.eventId);
});
