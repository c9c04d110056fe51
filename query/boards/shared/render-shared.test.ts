// Shared dashboards over HTTP on a real broker, with questions that the test answers: whom a link lets in, and how
// often it is rendered.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { principalOf } from '../../../platform/access/auth-interceptor.ts';
import { overviewId } from '../../../platform/dashboards/overview-dashboard.ts';
import { createLog } from '../../../platform/log.ts';
import type { TileSchema } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type InsightQuerySpec,
  InsightType,
  type QueryResponse,
  QueryResponseSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../../test/harness/services/accounts.ts';
import { registerBoards } from '../register-boards.ts';

const broker = useBroker();
let nowMs = Date.UTC(2026, 6, 1);
let accounts: AccountsProcess;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let dashboards: Clients['dashboards'];
let answer: () => Promise<QueryResponse>;
let questions = 0;
let weekStart = 1;
let onQuestion: (spec: InsightQuerySpec | undefined) => void;

const start = (dataDir?: string): Promise<AccountsProcess> =>
  startAccounts({
    brokerUrl: broker.url,
    ...(dataDir !== undefined && { dataDir }),
    clock: { nowMs: () => nowMs },
    reads: (router, control) =>
      registerBoards(router, {
        runQuestion: ({ request: { spec } }) => {
          questions++;
          onQuestion(spec);
          return answer();
        },
        readDashboard: control.readDashboard,
        ...{ timezoneOf: () => 'UTC', weekStartOf: () => weekStart },
        hasBots: async () => true,
        shares: control.shares,
        checkPassword: async (stored, password, from) =>
          (await control.passwords.check(stored, password, { kind: 'stranger', from })).ok,
        networkOf: ({ requestHeader }) => requestHeader.get('x-test-network') ?? undefined,
        clock: { nowMs: () => nowMs },
        log: createLog('silent'),
        isStarved: () => false,
        startCall: (context) => ({
          ...principalOf(context),
          standIns: undefined,
          count() {},
          charge() {},
          spend() {},
        }),
      }),
  });

const total = (value: number): QueryResponse =>
  create(QueryResponseSchema, { result: { case: 'segmentation', value: { total: value } } });

beforeAll(async () => {
  accounts = await start();
});

beforeEach(async () => {
  owner = await newCustomer(accounts);
  dashboards = accounts.as(bearer(owner, owner.projectId)).dashboards;
  answer = async () => total(questions);
  questions = 0;
  weekStart = 1;
  onQuestion = () => {};
});

afterAll(() => accounts.close());

const shown = (token: string, password = '', network = 'home', process = accounts) =>
  process.as({ 'x-test-network': network }).shared.render({ token, password });
const refusal = (call: Promise<unknown>): Promise<[Code, string]> =>
  call.then(
    () => {
      throw new Error('nothing was refused');
    },
    (error: unknown) => [ConnectError.from(error).code, ConnectError.from(error).rawMessage],
  );
const unknown = [Code.NotFound, 'there is no such share, or not any more'];
const question: MessageInitShape<typeof TileSchema> = {
  w: 24,
  h: 8,
  content: {
    case: 'insight',
    value: { insightType: InsightType.SEGMENTATION, events: [{ event: { kind: 'purchase' } }] },
  },
};

/** A dashboard of one question and one text, and a share of it. */
async function shareOne(fields: { password?: string; expireTime?: number } = {}) {
  const text: typeof question = { w: 24, h: 8, content: { case: 'markdown', value: '# Hello' } };
  const { dashboard } = await dashboards.create({ displayName: 'Board', tiles: [question, text] });
  const { expireTime, ...others } = fields;
  const dashboardId = dashboard?.id ?? '';
  const { token, share } = await dashboards.createShare({
    dashboardId,
    ...others,
    ...(expireTime !== undefined && { expireTime: timestampFromMs(expireTime) }),
  });
  return { token, shareId: share?.id ?? '', dashboardId };
}

describe('a link', () => {
  it('shows the saved dashboard with its answers to everybody, for no cache but their own', async () => {
    const { token } = await shareOne();
    const response = await fetch(
      `${accounts.baseUrl}/public.dashboards.v1.SharedDashboardsService/Render`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      },
    );
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(JSON.parse(await response.text())).toMatchObject({
      displayName: 'Board',
      time: { timezone: 'UTC', granularity: 'GRANULARITY_DAY' },
      tiles: [
        {
          question: { insightType: 'INSIGHT_TYPE_SEGMENTATION' },
          insight: { segmentation: { total: 1 } },
        },
        { markdown: '# Hello' },
      ],
    });
  });

  it('that is unknown, revoked, expired, or of a deleted dashboard is answered alike', async () => {
    expect(await refusal(shown(''))).toEqual(unknown);
    expect(await refusal(shown(`shr_${'x'.repeat(43)}`))).toEqual(unknown);
    const expiring = await shareOne({ expireTime: nowMs + 60_000, password: 'correct horse' });
    await shown(expiring.token, 'correct horse');
    const revoked = await shareOne();
    const deleted = await shareOne();
    await shown(revoked.token);
    await shown(deleted.token);
    await dashboards.revokeShare({ id: revoked.shareId });
    await dashboards.delete({ id: deleted.dashboardId });
    nowMs += 60_000;
    for (const { token } of [expiring, revoked, deleted]) {
      expect(await refusal(shown(token))).toEqual(unknown);
    }
  });

  it('that was revoked in one process shows nothing in another', async () => {
    const others = await start(accounts.dataDir);
    const { token, shareId } = await shareOne();
    const beside = () => shown(token, '', 'home', others);
    await expect
      .poll(() =>
        beside().then(
          () => 'shown',
          () => 'not yet',
        ),
      )
      .toBe('shown');
    await dashboards.revokeShare({ id: shareId });
    await expect
      .poll(() =>
        beside().then(
          () => 'shown',
          ({ code }) => code,
        ),
      )
      .toBe(Code.NotFound);
    await others.close();
  });

  it('shows the built-in dashboard too', async () => {
    const { token } = await dashboards.createShare({ dashboardId: overviewId });
    const { displayName, tiles } = await shown(token);
    expect(displayName).toBe('Overview');
    expect(tiles.length).toBe(15);
    expect(tiles.every(({ content }) => content.case === 'insight')).toBe(true);
    expect(tiles.filter(({ previous }) => previous !== undefined)).toHaveLength(6);
  });
});

describe('calls of one network', () => {
  it('are 300 at once, then five a second; large answers count as several', async () => {
    const { token } = await shareOne();
    // One text, because many small values keep a busy machine so long that it cannot confirm its shares meanwhile.
    const text = 'x'.repeat(2 * 1_048_576);
    answer = async () =>
      create(QueryResponseSchema, {
        result: { case: 'topK', value: { rows: [{ dimensionValue: text }] } },
      });
    const seen = () => shown(token, '', 'greedy');
    let answered = 0;
    let refused: [Code, string] | undefined;
    while (refused === undefined && answered < 300) {
      await seen().then(
        () => answered++,
        ({ code, rawMessage }) => {
          refused = [code, rawMessage];
        },
      );
    }
    expect(refused).toEqual([Code.ResourceExhausted, 'too many calls, try again later']);
    expect(answered).toBeLessThan(30);
    await shown(token, '', 'modest');
    nowMs += 10_000;
    await seen();
  });
});

describe('a password', () => {
  it('is asked for before anything is rendered', async () => {
    const { token } = await shareOne({ password: 'correct horse' });
    const wrong = [Code.Unauthenticated, 'the password is missing or wrong'];
    expect(await refusal(shown(token))).toEqual(wrong);
    expect(await refusal(shown(token, 'correct hors'))).toEqual(wrong);
    expect(questions).toBe(0);
    expect((await shown(token, 'correct horse')).displayName).toBe('Board');
  });

  it('can be guessed ten times at once from one network, then twice a minute, elsewhere as before', async () => {
    const { token } = await shareOne({ password: 'correct horse' });
    const other = await shareOne({ password: 'correct horse' });
    for (let tries = 0; tries < 10; tries++) await refusal(shown(token, `wrong ${tries}`));
    const right = () => shown(token, 'correct horse');
    const tooMany = [Code.ResourceExhausted, 'too many attempts, try again later'];
    expect(await refusal(right())).toEqual(tooMany);
    await shown(token, 'correct horse', 'elsewhere');
    await shown(other.token, 'correct horse');
    nowMs += 30_000;
    // A right one takes nothing from the limit.
    for (let tries = 0; tries < 3; tries++) await right();
    await refusal(shown(token, 'wrong'));
    expect(await refusal(right())).toEqual(tooMany);
  });
});

it('a right password is checked once for all who come at once, however many they are', async () => {
  const { token } = await shareOne({ password: 'correct horse' });
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => shown(token, 'correct horse', 'office')),
  );
  expect(answers).toHaveLength(60);
});

describe('a rendering', () => {
  it('has answers of 8 MiB: tiles that find no room ask nothing', async () => {
    const text = 'x'.repeat(3 * 1_048_576);
    answer = async () =>
      create(QueryResponseSchema, {
        result: { case: 'topK', value: { rows: [{ dimensionValue: text }] } },
      });
    const tiles = Array(12).fill({ ...question, compareToPrevious: true });
    const { dashboard } = await dashboards.create({ displayName: 'Large', tiles });
    const { results } = await dashboards.render({ id: dashboard?.id ?? '' });
    const failed = results.filter(({ outcome }) => outcome.case === 'error');
    expect(failed.length).toBeGreaterThan(9);
    expect(failed[0]?.outcome.value).toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringContaining('choose a shorter range'),
    });
    // Three at once: those under way when the room ran out.
    expect(questions).toBeLessThan(9);
  });

  it('is one for all who ask at once, and is kept for a minute', async () => {
    const { token } = await shareOne();
    let finish = (): void => {};
    answer = () =>
      new Promise((resolve) => {
        finish = () => resolve(total(7));
      });
    const leaving = new AbortController();
    const { shared } = accounts.as();
    const left = shared.render({ token }, { signal: leaving.signal });
    await expect.poll(() => questions).toBe(1);
    const asked = [shown(token), shown(token)];
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: Code.Canceled });
    finish();
    const [one, other] = await Promise.all(asked);
    expect(one).toEqual(other);
    nowMs += 59_999;
    await shown(token);
    expect(questions).toBe(1);
    nowMs += 1;
    answer = async () => total(8);
    await shown(token);
    expect(questions).toBe(2);
  });

  it('leaves bots out, and is another one for who counts them', async () => {
    const { token } = await shareOne();
    const { shared } = accounts.as({ 'x-test-network': 'home' });
    const asked: boolean[] = [];
    answer = async () => total(1);
    onQuestion = (spec) => asked.push(JSON.stringify(spec?.filterGroups).includes('$bot'));
    for (const countBots of [false, false, true])
      expect((await shared.render({ token, countBots })).hasBots).toBe(true);
    expect(asked).toEqual([true, false]);
  });

  it('is another one as soon as the dashboard has changed', async () => {
    const { token, dashboardId } = await shareOne();
    expect((await shown(token)).tiles).toHaveLength(2);
    await dashboards.upsert({ id: dashboardId, revision: 1, tiles: [] });
    expect((await shown(token)).tiles).toEqual([]);
  });

  it('is another one as soon as the project’s weeks begin on another day', async () => {
    const { token } = await shareOne();
    expect((await shown(token)).time?.weekStart).toBe(1);
    weekStart = 7;
    expect((await shown(token)).time?.weekStart).toBe(7);
    expect(questions).toBe(2);
  });

  it('shows nothing to who waited for it while the link was revoked', async () => {
    const { token, shareId } = await shareOne();
    let finish = (): void => {};
    answer = () =>
      new Promise((resolve) => {
        finish = () => resolve(total(7));
      });
    const waiting = refusal(shown(token));
    await expect.poll(() => questions).toBe(1);
    await dashboards.revokeShare({ id: shareId });
    finish();
    expect(await waiting).toEqual(unknown);
  });

  it('with a tile that failed for a moment is kept for seconds only, and does not say why', async () => {
    const { token } = await shareOne();
    answer = async () => {
      throw new ConnectError('host 10.0.0.1 is away', Code.Unavailable);
    };
    const { tiles } = await shown(token);
    expect(tiles.map(({ content }) => content)).toMatchObject([
      { case: 'error', value: { code: 'unavailable', message: 'this tile cannot be shown now' } },
      { case: 'markdown' },
    ]);
    nowMs += 5_000;
    answer = async () => total(9);
    expect((await shown(token)).tiles[0]?.content.case).toBe('insight');
  });
});
