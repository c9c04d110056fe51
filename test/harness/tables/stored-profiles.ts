// Rows of `profiles` written straight into the engine, for tests of their readers.

import { blockOf, insertBlock } from '../../../pipeline/profiles/insert-block.ts';
import { newRecord, type ProfileRecord } from '../../../pipeline/profiles/record.ts';
import { ProfileTraits } from '../../../pipeline/profiles/traits.ts';
import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';

export type StoredProfile = Partial<Omit<ProfileRecord, 'traits'>> & {
  projectId: string;
  distinctId: string;
  traits?: Record<string, unknown>;
};

/** Named profiles of now unless `fields` say otherwise; one insert. */
export async function storeProfiles(
  clickhouse: DatabaseClient,
  profiles: readonly StoredProfile[],
  version = '1',
): Promise<void> {
  const records = profiles.map(({ traits = {}, ...fields }): ProfileRecord => {
    const nowMs = Date.now();
    return {
      ...newRecord(fields.projectId, fields.distinctId),
      named: true,
      createTimeMs: nowMs,
      updateTimeMs: nowMs,
      traits: new ProfileTraits(
        Object.entries(traits).map(([key, value]) => [key, JSON.stringify(value)]),
      ),
      ...fields,
    };
  });
  await insertBlock(clickhouse, blockOf(records, 0, version));
}
