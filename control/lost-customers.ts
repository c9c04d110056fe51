// Marks in the data directory that the broker has had customers. A marked directory with an empty broker stops the
// start: if it counted as new, anybody could sign up with the addresses of the lost customers.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WatchedBucket } from '../platform/broker/watched-bucket.ts';
import { createPrivateJson } from '../platform/secrets/private-file.ts';
import type { CustomerRecord } from './customers/customer-record.ts';

/** Throws one sentence if the mark is there and no customer is. Sets the mark at the first customer. */
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
