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

// Both as the page has them: a classic script has its element, and only this script makes `q` more than an array.
const { src, dataset } = document.currentScript as HTMLScriptElement & { dataset: { key: string } };
const { track: isThere, q = [] } = window.millrace ?? {};
if (!isThere) {
  window.millrace = { ...methods, q: { push } };
  start({ host: new URL(src).origin, ...dataset });
  push(...(q as Call[]));
}
