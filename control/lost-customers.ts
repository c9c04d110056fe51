// Remembers in the data directory that the broker has had customers, so that a broker that has lost them is not taken
// for a new one: an empty world would let anybody sign up with the addresses of those who were there.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WatchedBucket } from '../platform/broker/kv-watch.ts';
import { createPrivateJson } from '../platform/secrets/private-file.ts';
import type { CustomerRecord } from './customers/customer-record.ts';

/** Throws one sentence where there were customers and there are none. */
export function refuseLostCustomers(
  dataDir: string,
  customers: Pick<WatchedBucket<CustomerRecord>, 'records' | 'onChange'>,
): void {
  const path = join(dataDir, 'has-customers.json');
  const [first] = customers.records();
  const isMarked = existsSync(path);
  if (first !== undefined || !isMarked) {
    let marked = isMarked;
    const mark = (): void => {
      if (!marked) createPrivateJson(path, { schemaVersion: 1 });
      marked = true;
    };
    if (first !== undefined) mark();
    else customers.onChange(mark);
    return;
  }
  throw new Error(
    `the broker has lost its customers: bring them back (npm run admin -- restore FILE), or remove ${path} to begin anew`,
  );
}
