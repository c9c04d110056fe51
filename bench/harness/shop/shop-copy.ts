// A service on a copy of a stored shop, for benches that store more beside it.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder } from '../../../test/harness/remove-folder.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { copyStopped } from '../../../test/harness/stopped-copy.ts';
import type { Mode, Session } from '../../bench.ts';
import { startMeasuredStack } from '../processes/measured-stack.ts';
import type { Shop } from './shop.ts';
import { openShop, storeShop, withoutLimits } from './stored-shop.ts';

/** In smoke runs the service is the session's, which stores the shop once. */
export async function onShopCopy<Result>(
  shop: Shop,
  mode: Mode,
  session: Session,
  run: (stack: Stack) => Promise<Result>,
): Promise<Result> {
  if (mode === 'smoke') {
    return run(await session.stackWithShop((stack) => storeShop(stack, shop, () => {})));
  }
  const made = await openShop(shop, (line) => void process.stderr.write(`${line}\n`));
  const dataDir = mkdtempSync(join(made, '..', 'copy-'));
  try {
    copyStopped(made, dataDir);
    const stack = await startMeasuredStack({ dataDir, env: withoutLimits });
    try {
      return await run(stack);
    } finally {
      await stack.stop();
    }
  } finally {
    await removeFolder(dataDir);
  }
}
