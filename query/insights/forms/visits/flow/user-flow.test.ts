// USER_FLOW over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator } from '../../../../../proto/gen/common/v1/filter_pb.js';
import {
  type InsightsService,
  InsightType,
  LeftOut_Reason,
  UserFlowQuery_NodeKind,
} from '../../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { AskedSpec } from '../../../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../../test/harness/services/read-service.ts';
import {
  type StoredRow,
  storedRow,
  storeRows,
} from '../../../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const project = randomUUID();
let service: ReadService;
let insights: Client<typeof InsightsService>;

const dayMs = Date.parse('2026-10-10T00:00:00Z');
/** The steps of one visit, a second apart: kinds, and paths after a blank. */
function visit(...steps: string[]): StoredRow[] {
  const sessionId = randomUUID();
  return steps.map((step, second) => {
    const [kind = '', pathname] = step.split(' ');
    return storedRow({
      projectId: project,
      sessionId,
      kind,
      occurTimeMs: dayMs + second * 1_000,
      columns: pathname === undefined ? {} : { pathname },
    });
  });
}
const inOneMs = (kinds: readonly string[]): StoredRow[] => {
  const sessionId = randomUUID();
  return kinds.map((kind) =>
    storedRow({ projectId: project, sessionId, kind, occurTimeMs: dayMs }),
  );
};

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  insights = service.insights(project);
  await storeRows(service.clickhouse, [
    ...visit('open /a', 'open /a', 'click /b', 'open /a', 'buy', 'leave', 'open /z'),
    ...visit('open /a', 'click /b', 'open /c'),
    ...visit('open /b').toReversed(),
    ...visit('click /c', 'open', 'open /c').toReversed(),
    ...inOneMs(['open', 'buy']),
  ]);
});
afterAll(() => service.stop());

async function flow(userFlow: Exclude<AskedSpec['userFlow'], undefined>, more: AskedSpec = {}) {
  const { result, leftOut } = await insights.query({
    spec: { insightType: InsightType.USER_FLOW, ...more, userFlow },
    timeRange: { from: timestampFromMs(dayMs), to: timestampFromMs(dayMs + 86_400_000) },
  });
  if (result.case !== 'userFlow') throw new Error('no user flow');
  return {
    nodes: result.value.nodes.map(({ id }) => id).toSorted(),
    others: result.value.nodes.filter(({ isOthers }) => isOthers).map(({ id }) => id),
    links: result.value.links.map(({ source, target, value }) => [source, target, Number(value)]),
    leftOut: leftOut.map(({ reason, count }) => [LeftOut_Reason[reason], Number(count)]),
  };
}

describe('ways by kind', () => {
  it('follow visits in order; equal steps are one', async () => {
    const { links, nodes, leftOut } = await flow({});
    expect(links).toEqual([
      ['0:open', '1:click', 2],
      ['1:click', '2:open', 2],
      ['0:buy', '1:open', 1],
      ['0:click', '1:open', 1],
      ['2:open', '3:buy', 1],
      ['3:buy', '4:leave', 1],
      ['4:leave', '5:open', 1],
    ]);
    expect(nodes).toEqual([...new Set(links.flatMap((link) => link.slice(0, 2)))].toSorted());
    expect(leftOut).toEqual([]);
  });

  it('end after the hops asked for, and tell the steps beyond', async () => {
    const { links, leftOut } = await flow({ maxHops: 1 });
    expect(links).toHaveLength(3);
    expect(leftOut).toEqual([['STEPS_BEYOND_LIMIT', 4 + 1]]);
  });

  it('fold the nodes beyond the limit into one', async () => {
    const { links, others, leftOut } = await flow({ maxNodes: 1, maxHops: 1 });
    // Of step 1, click and open have two visits each.
    expect(links).toEqual([
      ['0!others', '1!others', 2],
      ['0:open', '1:click', 2],
    ]);
    expect(others.toSorted()).toEqual(['0!others', '1!others']);
    expect(leftOut.slice(0, 1)).toEqual([['NODES_IN_OTHERS', 2 + 1]]);
  });

  it('keep the greatest links, and all nodes of the first step', async () => {
    const { links, nodes, leftOut } = await flow({ maxLinks: 1 });
    expect(links).toEqual([['0:open', '1:click', 2]]);
    expect(nodes).toEqual(['0:buy', '0:click', '0:open', '1:click']);
    expect(leftOut).toEqual([['LINKS_BEYOND_LIMIT', 6]]);
  });
});

describe('ways by a property', () => {
  const nodeKind = UserFlowQuery_NodeKind.PROPERTY;
  const byPath = { nodeKind, nodeProperty: '$pathname' };

  it('leave out events that lack it', async () => {
    const { links, nodes } = await flow(byPath);
    expect(links).toEqual([
      ['0:/a', '1:/b', 2],
      ['1:/b', '2:/a', 1],
      ['1:/b', '2:/c', 1],
      ['2:/a', '3:/z', 1],
    ]);
    expect(nodes.filter((node) => node.startsWith('0'))).toEqual(['0:/a', '0:/b', '0:/c']);
  });

  it('follow scope and filter groups', async () => {
    const scope = { kind: 'open' };
    expect((await flow({ ...byPath, scope })).links).toEqual([
      ['0:/a', '1:/c', 1],
      ['0:/a', '1:/z', 1],
    ]);
    const filters = [{ property: '$pathname', operator: FilterOperator.NOT_EQUALS, value: '/c' }];
    expect((await flow({ ...byPath, scope }, { filterGroups: [{ filters }] })).links).toEqual([
      ['0:/a', '1:/z', 1],
    ]);
    expect((await flow({ scope: { kind: 'nothing' } })).nodes).toEqual([]);
  });

  it('begin with an event, end with one, or both', async () => {
    const [click, buy, leave] = [{ kind: 'click' }, { kind: 'buy' }, { kind: 'leave' }];
    expect((await flow({}, { flow: { from: click } })).links).toEqual([
      ['0:click', '1:open', 3],
      ['1:open', '2:buy', 1],
      ['2:buy', '3:leave', 1],
      ['3:leave', '4:open', 1],
    ]);
    const toBuy = await flow({ maxHops: 2 }, { flow: { to: buy } });
    expect(toBuy.links).toEqual([
      ['0:click', '1:open', 1],
      ['1:open', '2:buy', 1],
    ]);
    // A visit that begins with its end has no link.
    expect(toBuy.nodes).toEqual(['0:click', '1:open', '2:buy']);
    expect((await flow({}, { flow: { from: { kind: 'open' }, to: leave } })).links).toEqual([
      ['0:open', '1:click', 1],
      ['1:click', '2:open', 1],
      ['2:open', '3:buy', 1],
      ['3:buy', '4:leave', 1],
    ]);
    // Ends are steps, whatever the scope is.
    expect((await flow({ scope: click }, { flow: { to: leave } })).links).toEqual([
      ['4:click', '5:leave', 1],
    ]);
    await expect(flow({}, { flow: {} })).rejects.toThrow('spec.flow: must have from or to');
  });

  it.each([
    [{ nodeKind }, /spec\.userFlow\.nodeProperty/],
    [{ maxHops: 11 }, /spec\.userFlow\.maxHops/],
    [{ maxNodes: 51 }, /spec\.userFlow\.maxNodes/],
    [{ maxLinks: -1 }, /spec\.userFlow\.maxLinks/],
  ])('refuse %j', async (asked, message) => {
    await expect(flow(asked)).rejects.toThrow(message);
  });
});
