// A real event of this page: BatchCreate with the public key alone, as a page of the reader's would send it. Where the
// project takes pages of other origins only, the reader sends it in their own name.

import { accessToken } from '../client.ts';

export const testKind = 'setup_test';

export type Sent =
  | { state: 'accepted'; eventId: string; tookMs: number }
  | { state: 'refused'; why: string };

/** Pages that are not served over TLS have no crypto.randomUUID. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export async function sendTestEvent(projectId: string, key: string): Promise<Sent> {
  const eventId = uuid();
  const event = {
    ...{ eventId, kind: testKind, distinctId: 'setup-test', sessionId: uuid() },
    occurTime: new Date().toISOString(),
    autoProperties: { $url: { stringValue: window.location.origin + window.location.pathname } },
    customProperties: { sent_from: { stringValue: 'setup' } },
  };
  const asPage = await send(event, { 'x-api-key': key });
  // The rule's name: this page is not among the allowed origins, as it need not be.
  if (asPage.state === 'accepted' || !asPage.why.startsWith('origin:')) return asPage;
  const token = await accessToken();
  if (token === undefined) return asPage;
  return send(event, { authorization: `Bearer ${token}`, 'x-project-id': projectId });
}

async function send(event: { eventId: string }, credential: Record<string, string>): Promise<Sent> {
  const { eventId } = event;
  const begun = performance.now();
  try {
    const response = await fetch('/sdk.events.v1.EventsService/BatchCreate', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential },
      credentials: 'omit',
      body: JSON.stringify({ events: [event] }),
    });
    if (response.ok) return { state: 'accepted', eventId, tookMs: performance.now() - begun };
    const answer: unknown = await response.json();
    return {
      state: 'refused',
      why: messageOf(answer) ?? `the service answered ${response.status}`,
    };
  } catch {
    return {
      state: 'refused',
      why: 'No answer came: an extension of this browser may block the request',
    };
  }
}

function messageOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('message' in answer)) return undefined;
  return typeof answer.message === 'string' ? answer.message : undefined;
}
