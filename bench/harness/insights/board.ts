// The overview board as a member's browser asks for it: a customer who may see every project, and Render.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { root } from '../../../test/harness/source-tree.ts';
import { check } from '../../bench.ts';
import { listOf } from './answers.ts';
import { askQuestion, post } from './ask.ts';
import type { Asked } from './question.ts';

/** Beside as many before. */
export const boardDays = 30;

/** A tile's question, and whether the range before is asked, too. */
interface AskedTile {
  spec: JsonObject;
  isCompared: boolean;
}

/** Renders the board for a range, and answers what its tiles ask; throws where a tile has no answer. */
export type RenderBoard = (asked: Asked) => Promise<AskedTile[]>;

/** Makes the customer and signs in. The token lasts for an hour at most. */
export async function openBoard(stack: Stack): Promise<RenderBoard> {
  const email = `bench-${randomBytes(6).toString('hex')}@example.com`;
  const password = randomBytes(16).toString('hex');
  const admin = join(root, 'dist', 'admin.js');
  const account = ['--email', email, '--password', password, '--super-admin'];
  const args = [admin, '--data', stack.dataDir, 'create-customer', ...account];
  await promisify(execFile)(process.execPath, args);
  const signIn = '/public.auth.v1.AuthService/SignIn';
  const { accessToken } = await call(stack.baseUrl, signIn, {}, { email, password });
  const headers = { authorization: `Bearer ${accessToken}`, 'x-project-id': stack.projectId };
  return async ({ fromMs, toMs, timezone }) => {
    const fixed = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
    const request = { id: 'overview', timeRange: { fixed }, timezone };
    const path = '/dashboard.dashboards.v1.DashboardsService/Render';
    const answer = await call(stack.baseUrl, path, headers, request);
    const results = listOf(answer, 'results');
    check(results.length > 0, 'the board has tiles');
    for (const { tileId, error } of results) {
      check(error === undefined, `the tile ${tileId} has an answer: ${JSON.stringify(error)}`);
    }
    const { dashboard } = answer;
    return listOf(isObject(dashboard) ? dashboard : {}, 'tiles').flatMap(
      ({ insight, compareToPrevious }) =>
        isObject(insight) ? [{ spec: insight, isCompared: compareToPrevious === true }] : [],
    );
  };
}

/** Asks each tile's question alone, one after the other, of rows of events. */
export async function askTilesPlainly(
  stack: Pick<Stack, 'baseUrl' | 'privateKey'>,
  tiles: readonly AskedTile[],
  asked: Asked,
  nowMs: number,
): Promise<void> {
  const { fromMs, toMs, timezone } = asked;
  const before = { fromMs: 2 * fromMs - toMs, toMs: fromMs, timezone };
  for (const { spec, isCompared } of tiles) {
    const queries = [{ granularity: 'GRANULARITY_DAY', spec }];
    for (const range of isCompared ? [asked, before] : [asked]) {
      await askQuestion(stack, { queries }, range, nowMs);
    }
  }
}

async function call(
  baseUrl: string,
  path: string,
  headers: Record<string, string>,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { status, text } = await post(baseUrl, path, headers, body);
  check(status === 200, `${path} answered ${status}: ${text.slice(0, 500)}`);
  const answer: unknown = JSON.parse(text);
  return isObject(answer) ? answer : {};
}
