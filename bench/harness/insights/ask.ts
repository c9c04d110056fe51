// Asks InsightsService.Query, and asks the engine the same as hand-written SQL.

import { Agent, request } from 'node:http';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check } from '../../bench.ts';
import { runStatement } from '../engine/engine-statement.ts';
import type { Layout } from './layout.ts';
import type { AnswerRow, Asked, Question } from './question.ts';

const path = '/shared.insights.v1.InsightsService/';
const agent = new Agent({ keepAlive: true });
/** What the service gives its own statements. */
const settings = 'max_threads = 2, output_format_json_quote_64bit_integers = 0';

type Service = Pick<Stack, 'baseUrl' | 'privateKey'>;

/** The answers of all its queries, asked at once. With an as_of only rows of events can tell. */
export async function askQuestion(
  service: Service,
  { queries }: Pick<Question, 'queries'>,
  asked: Asked,
  asOfMs?: number,
): Promise<JsonObject[]> {
  const calls = queries.map(({ granularity, spec }) =>
    call(service, 'Query', {
      ...{ spec, granularity },
      timezone: asked.timezone,
      timeRange: timeRangeOf(asked),
      ...(asOfMs !== undefined && { asOf: momentOf(asOfMs) }),
    }),
  );
  return Promise.all(calls);
}

/** A page of the persons behind a number of its first query, which `point` names. */
export async function askPersons(
  service: Service,
  { queries }: Pick<Question, 'queries'>,
  asked: Asked,
  { point, pageSize }: { point: JsonObject; pageSize: number },
): Promise<JsonObject> {
  const { timezone } = asked;
  return call(service, 'SegmentUsers', {
    ...{ timeRange: timeRangeOf(asked), pageSize },
    point: { ...queries[0], timezone, ...point },
  });
}

async function call(
  { baseUrl, privateKey }: Service,
  method: string,
  body: JsonObject,
): Promise<JsonObject> {
  const { status, text } = await post(baseUrl, path + method, { 'x-api-key': privateKey }, body);
  check(status === 200, `${method} answered ${status}: ${text.slice(0, 500)}`);
  const answer: unknown = JSON.parse(text);
  check(isObject(answer), 'an answer is an object');
  return isObject(answer) ? answer : {};
}

function timeRangeOf({ fromMs, toMs }: Asked): JsonObject {
  return { from: momentOf(fromMs), to: momentOf(toMs) };
}

/** With node:http, because fetch costs the client a millisecond of CPU more on the same cores. */
export function post(
  baseUrl: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: JsonObject,
): Promise<{ status: number; text: string }> {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  return new Promise((resolve, reject) => {
    const call = request(baseUrl + path, { ...options, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}

/** The rows of the plainest statement of a layout. */
export async function askEngine(
  stack: Pick<Stack, 'clickhouseUrl'>,
  question: Question,
  layout: Layout,
  asked: Asked,
): Promise<AnswerRow[]> {
  const sql = question.sql(layout, asked);
  const text = await runStatement(stack, `${sql}\nFORMAT JSONCompactEachRow SETTINGS ${settings}`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const row: unknown = JSON.parse(line);
      return Array.isArray(row) ? row.map(String) : [];
    });
}

export function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}
