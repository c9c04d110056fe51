// The demo's ninety days as a project shows them, once the real path has them.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../platform/clock.ts';
import { type Stack, startStack } from '../test/harness/servers/stack.ts';
import { createClient } from './sending/client.ts';
import { countReadable } from './sending/readable.ts';
import { rfc3339 } from './visits/event.ts';
import { seasonStartMs } from './visits/season.ts';

/** The parts of QueryResponse's JSON that are read here. */
interface Answer {
  trends: { series: { points: { time: string; value?: number }[] }[] };
  segmentation: {
    total: number;
    series: { breakdown?: Record<string, string>; isOthers?: boolean }[];
  };
}

const play = join(import.meta.dirname, '../dist/demo/play.js');

describe('a project with the demo', () => {
  let stack: Stack;
  let timeRange: { from: string; to: string };
  let acknowledged: number;
  beforeAll(async () => {
    stack = await startStack();
    const flags = ['--url', stack.baseUrl, '--data', stack.dataDir, '--seed', '3'];
    const { stdout } = await promisify(execFile)(process.execPath, [
      play,
      ...flags,
      '--events',
      '12000',
    ]);
    acknowledged = Number(
      stdout.match(/(\S+) events of \S+ visits acknowledged/)?.[1]?.replaceAll(',', ''),
    );
    const nowMs = systemClock.nowMs();
    timeRange = { from: rfc3339(seasonStartMs(nowMs)), to: rfc3339(nowMs) };
    const client = createClient({ baseUrl: stack.baseUrl, connections: 1 });
    const counted = { kind: '', range: timeRange };
    await countReadable(client, counted, acknowledged, 60_000, stack.privateKey);
    await client.close();
  });
  afterAll(() => stack?.stop());

  async function ask(spec: object): Promise<Answer> {
    const response = await fetch(`${stack.baseUrl}/shared.insights.v1.InsightsService/Query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': stack.privateKey },
      body: JSON.stringify({ spec, timeRange }),
    });
    expect(response.status).toBe(200);
    return JSON.parse(await response.text());
  }

  const total = { aggregation: 'AGGREGATION_TYPE_TOTAL' };

  it('has visitors on each of ninety days, fewer at weekends', async () => {
    const events = [{ event: { kind: 'page_view' }, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }];
    const { trends } = await ask({ insightType: 'INSIGHT_TYPE_TRENDS', events });
    const days = trends.series[0]?.points.slice(0, 90) ?? [];
    expect(days).toHaveLength(90);
    // A long visit may be all that a day has, and reach over the next one.
    expect(days.filter(({ value = 0 }) => value > 0).length).toBeGreaterThan(86);
    const sumOf = (isWeekend: boolean): number =>
      days
        .filter(({ time }) => [0, 6].includes(new Date(time).getUTCDay()) === isWeekend)
        .reduce((sum, { value = 0 }) => sum + value, 0);
    expect(sumOf(true) / 2).toBeLessThan((0.8 * sumOf(false)) / 5);
  });

  it.each(['$country', '$region', '$city', '$channel', '$hostname'])(
    'has no visit without %s',
    async (property) => {
      const { segmentation } = await ask({
        ...{
          insightType: 'INSIGHT_TYPE_SEGMENTATION',
          session: { metric: 'SESSION_METRIC_SESSIONS' },
        },
        ...{ breakdowns: [{ property }], breakdownLimit: 50 },
      });
      const groups = segmentation.series;
      expect(groups.length).toBeGreaterThan(0);
      expect(
        groups.filter(({ breakdown = {}, isOthers }) => !isOthers && !(property in breakdown)),
      ).toEqual([]);
    },
  );

  it('has members with a name and a plan, among users whom nobody knows', async () => {
    const by = async (property: string): Promise<Record<string, string>[]> => {
      const { segmentation } = await ask({
        insightType: 'INSIGHT_TYPE_SEGMENTATION',
        events: [{ event: {}, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }],
        breakdowns: [{ property: `profile.${property}` }],
        breakdownLimit: 100,
      });
      return segmentation.series.map(({ breakdown = {} }) => breakdown);
    };
    const plans = (await by('plan')).flatMap((group) => Object.values(group));
    expect(plans.sort()).toEqual(['business', 'free', 'plus']);
    expect((await by('name')).length).toBeGreaterThan(90);
  });

  it('has every event once, and goals with their revenue', async () => {
    const of = async (event: object, more: object = total): Promise<number> => {
      const spec = { insightType: 'INSIGHT_TYPE_SEGMENTATION', events: [{ event, ...more }] };
      return (await ask(spec)).segmentation.total;
    };
    expect(await of({})).toBe(acknowledged);
    expect(await of({ kind: 'signup' })).toBeGreaterThan(0);
    expect(await of({ kind: 'purchase' })).toBeGreaterThan(0);
    const revenue = { aggregation: 'AGGREGATION_TYPE_SUM', aggregationProperty: 'revenue' };
    expect(await of({ kind: 'purchase' }, revenue)).toBeGreaterThan(100);
  });
});
