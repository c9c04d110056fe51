// What a press asks for, in code that no page needs before.

import { explain } from '../client.ts';
import { loadCode } from '../shell/load-code.ts';
import { toast } from './toasts.tsx';

/** Loads the code and runs it; a toast says what went wrong with either. Never rejects. */
export async function runLoaded<T>(
  load: () => Promise<T>,
  run: (code: T) => void | Promise<void>,
): Promise<void> {
  try {
    await run(await loadCode(load, new AbortController().signal));
  } catch (cause) {
    toast(explain(cause).what);
  }
}
