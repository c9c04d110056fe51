// A visit has the same events whatever range is asked: those of the UTC day on which it begins and of the next one.
// Each question is asked of the tables of visits and, with an as_of in the far future, of the rows of events.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  InsightType,
  SessionMetric,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { AskedProject } from '../../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';

const at = (time: string): number => Date.parse(`2026-10-${time}:00Z`);
const { SESSIONS, AVG_DURATION, AVG_EVENTS_PER_SESSION, BOUNCE_RATE, EXIT } = SessionMetric;
const day = 86_400;

/** Events of one session, as time and page. */
const histories = {
  'three days': ['20T10:00 /a', '20T14:00 /b', '21T10:00 /c', '22T10:00 /d'],
  'four days': ['20T10:00 /a', '21T10:00 /b', '22T10:00 /c', '23T09:00 /d'],
  'a day without events': ['20T10:00 /a', '22T10:00 /b', '23T10:00 /c'],
  'two minutes over midnight': ['20T23:59 /a', '21T00:01 /b'],
};
type Name = keyof typeof histories;

const engine = useEngine();
let service: ReadService;
const projects = new Map<string, AskedProject>();

/** Each event in an insert of its own, so that a day may have several rows. */
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  for (const table of ['visits', 'visit_entries']) {
    await service.clickhouse.command({ query: `SYSTEM STOP MERGES ${table}` });
  }
  for (const [name, events] of Object.entries(histories)) {
    const [project, sessionId] = [new AskedProject(service), randomUUID()];
    projects.set(name, project);
    for (const event of events) {
      const [time = '', pathname = ''] = event.split(' ');
      await project.store([{ sessionId, occurTimeMs: at(time), columns: { pathname } }]);
    }
  }
});
afterAll(() => service.stop());

describe.each([
  ['three days', '20T00:00', '23T00:00', SESSIONS, [1, 0, 0]],
  ['three days', '20T00:00', '23T00:00', AVG_DURATION, [day, 0, 0]],
  ['three days', '20T00:00', '23T00:00', AVG_EVENTS_PER_SESSION, [3, 0, 0]],
  ['three days', '20T00:00', '21T00:00', AVG_DURATION, [day]],
  ['three days', '18T00:00', '23T00:00', AVG_DURATION, [0, 0, day, 0, 0]],
  ['three days', '20T12:00', '23T00:00', SESSIONS, [0, 0, 0]],
  ['three days', '21T00:00', '23T00:00', SESSIONS, [0, 0]],
  ['four days', '20T00:00', '24T00:00', SESSIONS, [1, 0, 0, 0]],
  ['four days', '19T00:00', '20T10:01', AVG_DURATION, [0, day]],
  ['four days', '22T00:00', '24T00:00', SESSIONS, [0, 0]],
  ['a day without events', '20T00:00', '24T00:00', SESSIONS, [1, 0, 1, 0]],
  ['a day without events', '20T00:00', '24T00:00', AVG_DURATION, [0, 0, day, 0]],
  ['a day without events', '20T00:00', '24T00:00', BOUNCE_RATE, [1, 0, 0, 0]],
  ['a day without events', '22T00:00', '23T00:00', AVG_DURATION, [day]],
  ['a day without events', '23T00:00', '24T00:00', SESSIONS, [0]],
  ['two minutes over midnight', '20T00:00', '21T00:00', AVG_DURATION, [120]],
  ['two minutes over midnight', '21T00:00', '22T00:00', SESSIONS, [0]],
  ['two minutes over midnight', '20T12:00', '21T12:00', AVG_DURATION, [120, 0]],
] as const)('a session of %s, asked from %s to %s', (name, from, to, metric, expected) => {
  it(`has the ${SessionMetric[metric]} ${expected.join(', ')}`, async () => {
    const answers = await ask(name, metric, [from, to]);
    for (const groups of answers) expect(groups).toEqual([{ group: {}, points: expected }]);
  });
});

it.each([
  ['three days', SESSIONS, { '/a': 1 }],
  ['three days', AVG_DURATION, { '/a': day }],
  ['three days', EXIT, { '/c': 1 }],
  ['a day without events', SESSIONS, { '/a': 1, '/b': 1 }],
  ['a day without events', AVG_DURATION, { '/a': 0, '/b': day }],
  ['a day without events', EXIT, { '/a': 1, '/c': 1 }],
] as const)('groups a session of %s by page with the metric %s', async (name, metric, expected) => {
  for (const groups of await ask(name, metric, ['20T00:00', '29T00:00'], '$pathname')) {
    const found = groups.map(({ group, points }) => [
      group['$pathname'],
      points.find((value) => value !== 0) ?? 0,
    ]);
    expect(Object.fromEntries(found)).toEqual(expected);
  }
});

/** The groups of both answers. */
async function ask(
  name: Name,
  metric: SessionMetric,
  [from, to]: [string, string],
  property?: string,
) {
  const breakdowns = property === undefined ? [] : [{ property }];
  const spec = { insightType: InsightType.TRENDS, session: { metric }, breakdowns };
  const range = { fromMs: at(from), toMs: at(to) };
  const project = projects.get(name) ?? expect.fail('no such project');
  const answers = await Promise.all([project.ask(spec, range), project.askRows(spec, range)]);
  return answers.map(({ result }) => {
    if (result.case !== 'trends') throw new Error('no trends');
    return result.value.series.map(({ breakdown, points }) => ({
      group: breakdown,
      points: points.map(({ value }) => value),
    }));
  });
}
