// A webhook of one room's messages in a running product, made as an admin makes one.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../clients/client.ts';
import type { Stack } from '../servers/stack.ts';
import { managementClient } from './management-client.ts';

/** The product must be allowed to post to this machine. */
export async function makeRoomWebhook(stack: Stack, room: string, url: string): Promise<void> {
  const admin = JSON.parse(readFileSync(join(stack.dataDir, 'demo-admin.json'), 'utf8'));
  const login = { email: admin.adminEmail, password: admin.adminPassword };
  const signedIn = await call(stack.baseUrl, '/public.auth.v1.AuthService/SignIn', '', login);
  const authorization = String(signedIn.body['accessToken']);
  const subscription = {
    subject_type: 'WEBHOOK_SUBJECT_TYPE_ROOM',
    subject_id: room,
    subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_SENT',
    filter: { room_type: 'chat' },
  };
  const content = { name: room, endpoint_url: url, subscriptions: [subscription] };
  const path = `/v1/organizations/${stack.organizationId}/webhooks`;
  const { call: manage } = await managementClient(stack.baseUrl);
  const made = await manage('POST', path, { authorization, body: { content } });
  if (made.status !== 201) throw new Error(`the webhook was not made: ${made.status}`);
}
