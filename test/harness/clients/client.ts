// An HTTP client of the running product for the end-to-end tests. It does no more than a user with curl.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createClickHouse } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';

export interface Sent {
  eventId: string;
  kind: string;
  distinctId: string;
  sessionId: string;
  occurTime: string;
  autoProperties?: Record<string, unknown>;
  customProperties?: Record<string, unknown>;
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

const activityList = '/shared.activity.v1.ActivityService/List';

/** An event of now with fresh ids; `fields` override. */
export function newEvent(fields: Partial<Sent> = {}): Sent {
  return {
    eventId: randomUUID(),
    kind: 'page_view',
    distinctId: 'visitor',
    sessionId: randomUUID(),
    occurTime: new Date().toISOString(),
    ...fields,
  };
}

/** POSTs JSON; rejects only where no HTTP answer comes. */
export async function call(
  baseUrl: string,
  path: string,
  key: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await response.text();
  return { status: response.status, body: JSON.parse(text), headers: response.headers };
}

export function batchCreate(
  stack: { baseUrl: string; publicKey: string },
  events: readonly unknown[],
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const path = '/sdk.events.v1.EventsService/BatchCreate';
  return call(stack.baseUrl, path, options.key ?? stack.publicKey, { events }, options.headers);
}

export type StoredEvent = Record<string, unknown> & {
  eventId: string;
  profileId: string;
  autoProperties?: Record<string, Record<string, unknown>>;
  customProperties?: Record<string, Record<string, unknown>>;
};

/** As JSON has it; named, because the service passes over members that it does not know. */
interface ListActivity {
  distinctId?: string;
  sessionId?: string;
  kinds?: string[];
  pageSize?: number;
}

/** One page of ActivityService.List; throws where the answer is not 200. */
export async function listActivity(
  stack: { baseUrl: string; privateKey: string },
  request: ListActivity,
): Promise<{ events: StoredEvent[]; nextPageToken: string }> {
  const answer = await call(stack.baseUrl, activityList, stack.privateKey, request);
  if (answer.status !== 200)
    throw new Error(`List: ${answer.status} ${JSON.stringify(answer.body)}`);
  const { events = [], nextPageToken = '' } = answer.body as {
    events?: StoredEvent[];
    nextPageToken?: string;
  };
  return { events, nextPageToken };
}

/** Until all that was accepted so far is stored, in the tables of the views too, which answer most questions. */
export async function untilCounted(stack: { baseUrl: string; privateKey: string }): Promise<void> {
  const sinceMs = Date.now();
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const question = {
    spec: { insightType: 'INSIGHT_TYPE_SEGMENTATION', events: [{ event: {} }] },
    timeRange: { from: `${day(sinceMs)}T00:00:00Z`, to: `${day(sinceMs + 86_400_000)}T00:00:00Z` },
  };
  const path = '/shared.insights.v1.InsightsService/Query';
  await eventually(
    () => call(stack.baseUrl, path, stack.privateKey, question),
    ({ body }) => Date.parse(String(body['completeUntil'])) >= sinceMs,
  );
}

/** Pauses before the next asking: each costs the servers time that others need, and most wait for seconds. */
const leastPauseMs = 50;
const mostPauseMs = 250;

/** Asks again until `done` holds, after longer and longer pauses; throws after `timeoutMs` with the last answer. */
export async function eventually<T>(
  ask: () => Promise<T>,
  done: (value: T) => boolean,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = leastPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, mostPauseMs)) {
    const value = await ask();
    if (done(value)) return value;
    if (performance.now() > deadline) {
      throw new Error(
        `not in ${timeoutMs} ms; last seen: ${JSON.stringify(value)?.slice(0, 2_000)}`,
      );
    }
    await delay(pauseMs);
  }
}

/** Rows of a query on the stack's ClickHouse; 64-bit integers are numbers. */
export async function rows<T>(clickhouseUrl: string, query: string): Promise<T[]> {
  const log = createLog('silent');
  const client = createClickHouse(clickhouseUrl, { log, maxConnections: 1 });
  try {
    const result = await client.query({
      query,
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    });
    return await result.json<T>();
  } finally {
    await client.close();
  }
}
