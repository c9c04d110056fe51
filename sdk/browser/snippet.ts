// The entry of GET /millrace.js: reads the attributes of its own element and puts the client at window.millrace.

import { reset } from './device.ts';
import { before, consent, identify, page, start, track } from './millrace.ts';
import { flush } from './queue.ts';

const methods = { track, page, identify, reset, consent, before, flush };

type Call = [name: keyof typeof methods, ...values: never[]];

declare global {
  interface Window {
    /** Before the script is there it has at most `q`, an array of calls. */
    millrace?: Partial<typeof methods> & { q?: Call[] | { push: typeof push } };
  }
}

/** `['track', 'signup', { plan: 'pro' }]`: the same before the script is there and afterwards. */
function push(...calls: Call[]): void {
  for (const [name, ...values] of calls)
    (methods[name] as (...values: unknown[]) => unknown)(...values);
}

// A module has no element of its own.
const element =
  document.currentScript ?? document.querySelector<HTMLScriptElement>('script[data-key]');
const { src = location.href, dataset } = (element ?? {}) as Partial<HTMLScriptElement>;
const { track: isThere, q = [] } = window.millrace ?? {};
if (!isThere) {
  window.millrace = { ...methods, q: { push } };
  start({ host: new URL(src).origin, ...dataset });
  // As the page has it: only this script makes `q` more than an array.
  push(...(q as Call[]));
}
