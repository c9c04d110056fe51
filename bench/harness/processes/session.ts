// The stack that the benches of one session share: the first bench that asks for it starts it.

import type { Stack } from '../../../test/harness/servers/stack.ts';
import type { Session } from '../../bench.ts';
import { startMeasuredStack } from './measured-stack.ts';

/** The question is how much the service can take, not how much a key may send. Webhooks lead to this machine. */
export const benchSettings = {
  MILLRACE_EVENTS_PER_SECOND: '0',
  MILLRACE_READS_PER_SECOND: '0',
  MILLRACE_LOG_LEVEL: 'warn',
  MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8',
};

/** `close` ends the stack, if there is one, and removes what it stored. */
export function createSession(): Session & { close(): Promise<void> } {
  let starting: Promise<Stack> | undefined;
  let storing: Promise<void> | undefined;
  let loads = 0;
  const stack = (): Promise<Stack> => {
    starting ??= startMeasuredStack({ env: benchSettings });
    return starting;
  };
  return {
    stack,
    async stackWithShop(store) {
      const started = await stack();
      storing ??= store(started);
      await storing;
      return started;
    },
    nextLoad: () => loads++,
    async close() {
      await (await starting)?.stop();
    },
  };
}
