// Asks InsightsService.Query, and asks the engine the same as hand-written SQL.

import { Agent, request } from 'node:http';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check } from '../../bench.ts';
import { runStatement } from '../engine/engine-statement.ts';
import type { Layout } from './layout.ts';
import type { AnswerRow, Asked, Question } from './question.ts';

const queryPath = '/shared.insights.v1.InsightsService/Query';
const agent = new Agent({ keepAlive: true });
/** What the service gives its own statements. */
const settings = 'max_threads = 2, output_format_json_quote_64bit_integers = 0';

/** The answers of all its queries, asked at once. With an as_of only rows of events can tell. */
export async function askQuestion(
  stack: Pick<Stack, 'baseUrl' | 'privateKey'>,
  { queries }: Pick<Question, 'queries'>,
  asked: Asked,
  asOfMs?: number,
): Promise<JsonObject[]> {
  const calls = queries.map(async ({ granularity, spec }) => {
    const { status, text } = await post(
      stack.baseUrl,
      queryPath,
      { 'x-api-key': stack.privateKey },
      {
        ...{ spec, granularity },
        timezone: asked.timezone,
        timeRange: { from: momentOf(asked.fromMs), to: momentOf(asked.toMs) },
        ...(asOfMs !== undefined && { asOf: momentOf(asOfMs) }),
      },
    );
    check(status === 200, `Query answered ${status}: ${text.slice(0, 500)}`);
    const answer: unknown = JSON.parse(text);
    check(isObject(answer), 'an answer is an object');
    return isObject(answer) ? answer : {};
  });
  return Promise.all(calls);
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

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}
