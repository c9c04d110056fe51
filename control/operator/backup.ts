// Writes all records of people's settings as lines of JSON, and restores them. A line holds one record as it is, so
// that a backup is as secret as the broker's disk. Events, their ledger and the instance's own records are not in it.

import { buckets } from '../../platform/broker/buckets.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { fieldOf } from '../../platform/json.ts';

/** The buckets of a backup in the order of restoring: owners of unique things before the records that rely on them. */
export const savedBuckets: readonly string[] = [
  buckets.owners,
  buckets.customers,
  buckets.organizations,
  buckets.projects,
  buckets.sessions,
  buckets.magicLinks,
  buckets.dashboards,
  buckets.dashboardLists,
  buckets.projectItems,
  buckets.alertStates,
  buckets.reportStates,
  buckets.exports,
  buckets.exportSchedules,
  buckets.erasures,
  buckets.webhooks,
  buckets.webhookHealth,
  buckets.webhookNotices,
];
/** The only record of the instance in a backup: it names the demo's project. */
const savedInstanceKey = 'demo';

interface SavedRecord {
  bucket: string;
  key: string;
  value: unknown;
}

const format = 'millrace-records-1';

/** Lines without line ends: a head, a line for each record, and a foot that tells a whole backup from a cut one. */
export async function* backupLines(connection: NatsConnection): AsyncGenerator<string> {
  yield JSON.stringify({ format });
  let records = 0;
  for (const bucket of [...savedBuckets, buckets.instance]) {
    const kv = await connection.jetstream().views.kv(bucket, { bindOnly: true });
    const keys: string[] = [];
    for await (const key of await kv.keys()) keys.push(key);
    for (const key of keys.sort()) {
      if (bucket === buckets.instance && key !== savedInstanceKey) continue;
      const entry = await kv.get(key);
      // The record was deleted after the keys were listed.
      if (entry === null || entry.operation !== 'PUT') continue;
      const record: SavedRecord = { bucket, key, value: entry.json() };
      yield JSON.stringify(record);
      records++;
    }
  }
  yield JSON.stringify({ records });
}

/**
 * Writes the records of a backup and returns their number. Throws one sentence, with nothing written, if the backup is
 * not whole or a bucket holds records that are not the backup's; those that are, a restore has left that was cut.
 */
export async function restoreLines(
  connection: NatsConnection,
  lines: readonly string[],
): Promise<number> {
  const records = parseBackup(lines);
  const js = connection.jetstream();
  const present = await presentRecords(connection, records);
  for (const record of records) {
    if (present.has(record)) continue;
    const { bucket, key, value } = record;
    const kv = await js.views.kv(bucket, { bindOnly: true });
    const text = JSON.stringify(value);
    if (bucket === buckets.instance) await kv.put(key, text);
    else await kv.create(key, text);
  }
  return records.length;
}

/** The records of the backup that the broker has. Throws where it has any other. */
async function presentRecords(
  connection: NatsConnection,
  records: readonly SavedRecord[],
): Promise<ReadonlySet<SavedRecord>> {
  const byPlace = new Map(records.map((record) => [`${record.bucket} ${record.key}`, record]));
  const present = new Set<SavedRecord>();
  for (const bucket of savedBuckets) {
    const kv = await connection.jetstream().views.kv(bucket, { bindOnly: true });
    const keys: string[] = [];
    for await (const key of await kv.keys()) keys.push(key);
    for (const key of keys) {
      const saved = byPlace.get(`${bucket} ${key}`);
      const stored = await kv.get(key);
      if (saved === undefined || stored?.string() !== JSON.stringify(saved.value)) {
        throw new Error(
          `bucket ${bucket} holds other records than the backup, ${key} for one: restore into an empty broker`,
        );
      }
      present.add(saved);
    }
  }
  return present;
}

function parseBackup(lines: readonly string[]): SavedRecord[] {
  const values: unknown[] = lines.map((line, index) => {
    try {
      return JSON.parse(line);
    } catch {
      throw new Error(`the backup's line ${index + 1} is no JSON`);
    }
  });
  const records = values.slice(1, -1).filter(isSavedRecord);
  const whole =
    fieldOf(values[0], 'format') === format &&
    fieldOf(values.at(-1), 'records') === records.length &&
    records.length === values.length - 2;
  if (whole) return records;
  throw new Error(`the backup is not whole, or not of the format ${format}`);
}

function isSavedRecord(value: unknown): value is SavedRecord {
  const bucket = fieldOf(value, 'bucket');
  const key = fieldOf(value, 'key');
  if (typeof bucket !== 'string' || typeof key !== 'string') return false;
  const known = savedBuckets.includes(bucket);
  return known || (bucket === buckets.instance && key === savedInstanceKey);
}
