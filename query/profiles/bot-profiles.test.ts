// Lists with the filter $bot: profiles of which every event is a bot's, beside merged ones and some without events, by
// each of the statements that find a page.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  FilterOperator,
  LogicalOperator,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import { ProfileOrder } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const projectId = 'crawled';
const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  const event = (distinctId: string, browser: string, isBot: boolean) =>
    storedRow({
      ...{ projectId, distinctId, columns: { browser } },
      bools: isBot ? { $bot: true } : {},
    });
  await storeRows(service.clickhouse, [
    event('ada', 'person', false),
    event('crawler', 'crawler', true),
    event('both', 'both', true),
    event('of a person', 'merged', true),
    event('of nobody seen', 'crawler of an account', true),
    event('account', 'account of a crawler', true),
  ]);
  await storeRows(service.clickhouse, [
    event('crawler', 'crawler', true),
    event('both', 'both', false),
    event('visited', 'merged', false),
  ]);
  const merged = (distinctId: string, owner: string) => ({
    ...{ projectId, distinctId, owner, root: owner, named: false, wasClaimed: true },
  });
  await storeProfiles(service.clickhouse, [
    { projectId, distinctId: 'account' },
    { projectId, distinctId: 'visited' },
    { projectId, distinctId: 'silent' },
    { projectId, distinctId: 'unseen' },
    merged('of a person', 'visited'),
    merged('of nobody seen', 'unseen'),
  ]);
});
afterAll(() => service?.stop());

const bots = ['account of a crawler', 'crawler', 'crawler of an account'];
const others = ['', 'both', 'merged', 'person'];

const is = (operator: FilterOperator) => ({
  ...{ property: '$bot', operator, value: 'true', source: PropertySource.AUTO },
});
const isOfNobody = { property: 'trait of nobody', operator: FilterOperator.IS_SET };

it.each([
  ['the newest', {}],
  ['those seen last', { orderBy: ProfileOrder.LAST_SEEN }],
  ['names', { orderBy: ProfileOrder.NAME }],
])('%s', async (_, order) => {
  const listed = async (operator: FilterOperator, of = LogicalOperator.AND) => {
    const filters = of === LogicalOperator.OR ? [is(operator), isOfNobody] : [is(operator)];
    const request = { ...order, filterGroups: [{ filters, operator: of }] };
    const found: string[] = [];
    for await (const { profiles } of service.profiles(projectId).list(request))
      found.push(...profiles.map(({ activity }) => activity?.browser ?? ''));
    return found.sort();
  };
  for (const of of [LogicalOperator.AND, LogicalOperator.OR]) {
    expect(await listed(FilterOperator.EQUALS, of)).toEqual(bots);
    expect(await listed(FilterOperator.NOT_EQUALS, of)).toEqual(others);
  }
});
