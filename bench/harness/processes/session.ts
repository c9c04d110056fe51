// The stack that the benches of one session share: the first bench that asks for it starts it.

import { type Stack, startStack } from '../../../test/harness/servers/stack.ts';
import type { Session } from '../../bench.ts';

/** `close` ends the stack, if there is one, and removes what it stored. */
export function createSession(): Session & { close(): Promise<void> } {
  let starting: Promise<Stack> | undefined;
  let loads = 0;
  return {
    stack() {
      // The question is how much the service can take, not how much a key may send.
      starting ??= startStack({
        env: {
          MILLRACE_EVENTS_PER_SECOND: '0',
          MILLRACE_READS_PER_SECOND: '0',
          MILLRACE_LOG_LEVEL: 'warn',
        },
      });
      return starting;
    },
    nextLoad: () => loads++,
    async close() {
      await (await starting)?.stop();
    },
  };
}
