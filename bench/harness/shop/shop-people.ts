// The identity records of a shop's people, in the rows of the profile writer: the named ones with traits, and an edge
// for each id that is merged.

import { blockOf, insertBlock } from '../../../pipeline/profiles/insert-block.ts';
import { newRecord, type ProfileRecord } from '../../../pipeline/profiles/record.ts';
import { ProfileTraits } from '../../../pipeline/profiles/traits.ts';
import { createClickHouse } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { plans } from './properties.ts';
import { hash32 } from './random.ts';
import { type Person, personOf, type Shop, startMsOf } from './shop.ts';

const peopleABlock = 20_000;
const companies = 5_000;

/** Stores all of them under rising versions. */
export async function storePeople(
  clickhouseUrl: string,
  projectId: string,
  shop: Shop,
): Promise<void> {
  const log = createLog('silent');
  const clickhouse = createClickHouse(clickhouseUrl, { log, maxConnections: 1 });
  try {
    for (let from = 0, version = 1; from < shop.profiles; from += peopleABlock, version++) {
      const records: ProfileRecord[] = [];
      for (let n = from; n < Math.min(shop.profiles, from + peopleABlock); n++) {
        records.push(...recordsOf(personOf(shop, n), projectId, shop));
      }
      await insertBlock(clickhouse, blockOf(records, 0, String(version)));
    }
  } finally {
    await clickhouse.close();
  }
}

function recordsOf(person: Person, projectId: string, shop: Shop): ProfileRecord[] {
  const { distinctId, anonymousId, number, mergedMs } = person;
  if (!person.named) return [];
  const createTimeMs = anonymousId === undefined ? startMsOf(shop) : mergedMs;
  const named: ProfileRecord = {
    ...newRecord(projectId, distinctId),
    ...{ named: true, createTimeMs, updateTimeMs: createTimeMs },
    traits: new ProfileTraits([
      ['name', JSON.stringify(`Name ${number}`)],
      ['plan', JSON.stringify(plans[hash32(number, 20) % 4])],
      ['company', JSON.stringify(`Company ${hash32(number, 22) % companies}`)],
      ['seats', String(1 + (number % 100))],
    ]),
  };
  if (anonymousId === undefined) return [named];
  const edge: ProfileRecord = {
    ...newRecord(projectId, anonymousId),
    ...{ wasClaimed: true, owner: distinctId, root: distinctId },
    ...{ mergeTimeMs: mergedMs, mergeSource: 'identify' },
  };
  return [named, edge];
}
