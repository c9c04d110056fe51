// Makes the demo's webhook through the management interface, as the demo organization's admin, and deletes it again.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { isObject } from '../../platform/json.ts';
import { RequestRefused } from '../sending/request-refused.ts';
import { busiestRoom, feedbackBlock, spaceOfRooms } from '../visits/rooms.ts';

export interface MadeWebhook {
  id: string;
  secret: string;
  delete(): Promise<void>;
}

const timeoutMs = 10_000;
const prefix = 'WEBHOOK_SUBSCRIPTION_TYPE_';

/** Its messages in one room, its recordings in one space, its answers in one block. */
const subscriptions = [
  ...['MESSAGE_SENT', 'MESSAGE_EDITED', 'MESSAGE_DELETED'].map((type) =>
    subscription('ROOM', busiestRoom, type),
  ),
  ...['ROOM_RECORDING_PUBLISHED', 'ROOM_RECORDING_TRANSCRIPT_PUBLISHED'].map((type) =>
    subscription('SPACE', spaceOfRooms, type),
  ),
  subscription('BLOCK', feedbackBlock, 'BLOCK_RESPONSE_SENT'),
];

/** Throws a RequestRefused where the instance refuses, or `dataDir` is not that of its demo. */
export async function makeWebhook(
  { baseUrl, dataDir }: { baseUrl: string; dataDir: string },
  endpointUrl: string,
): Promise<MadeWebhook> {
  const { organizationId } = readTexts(join(dataDir, 'demo.json'), ['organizationId']);
  const admin = readTexts(join(dataDir, 'demo-admin.json'), ['adminEmail', 'adminPassword']);
  const signIn = '/public.auth.v1.AuthService/SignIn';
  const credentials = { email: admin['adminEmail'], password: admin['adminPassword'] };
  const session = await call(baseUrl, 'POST', signIn, credentials);
  const token = textIn(session, 'accessToken');
  const path = `/v1/organizations/${organizationId}/webhooks`;
  const content = {
    name: 'Demo',
    description: 'made by npm run demo -- --webhooks',
    endpoint_url: endpointUrl,
    subscriptions,
  };
  const made = await call(baseUrl, 'POST', path, { content }, token);
  const id = textIn(isObject(made) ? made['webhook'] : undefined, 'id');
  return {
    id,
    secret: textIn(made, 'secret'),
    delete: async () => void (await call(baseUrl, 'DELETE', `${path}/${id}`, undefined, token)),
  };
}

function subscription(subject: string, subjectId: string, type: string) {
  return {
    subject_type: `WEBHOOK_SUBJECT_TYPE_${subject}`,
    subject_id: subjectId,
    subscription_type: `${prefix}${type}`,
  };
}

async function call(
  baseUrl: string,
  method: 'POST' | 'DELETE',
  path: string,
  content: object | undefined,
  token?: string,
): Promise<unknown> {
  const { statusCode, body } = await request(`${baseUrl}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(content !== undefined && { body: JSON.stringify(content) }),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  }).catch((error: Error) => {
    throw new RequestRefused(`${baseUrl} does not answer: ${error.message}`);
  });
  const answer = parse(await body.text());
  if (statusCode < 300) return answer;
  const why = isObject(answer) ? answer['message'] : undefined;
  throw new RequestRefused(`${path} was refused with ${statusCode}: ${String(why ?? 'no reason')}`);
}

function readTexts(path: string, names: readonly string[]): Record<string, string> {
  let kept: unknown;
  try {
    kept = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new RequestRefused(
      `${path} cannot be read: name the instance's directory with --data DIR`,
    );
  }
  return Object.fromEntries(names.map((name) => [name, textIn(kept, name)]));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textIn(value: unknown, name: string): string {
  const text = isObject(value) ? value[name] : undefined;
  if (typeof text !== 'string') throw new RequestRefused(`no ${name} was found`);
  return text;
}
