// Says that the service does not answer, and asks until it does; pages that failed then ask again by themselves.

import { effect } from '@preact/signals';
import { hear, isReachable } from '../client.ts';

const firstWaitMs = 500;
const longestWaitMs = 10_000;

let timer: number | undefined;

function ask(waitMs: number): void {
  timer = window.setTimeout(async () => {
    const answered = await fetch('/healthz', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) hear();
    else ask(Math.min(waitMs * 2, longestWaitMs));
  }, waitMs);
}

effect(() => {
  window.clearTimeout(timer);
  if (!isReachable.value) ask(firstWaitMs);
});

window.addEventListener('offline', () => {
  isReachable.value = false;
});

export function ConnectionBar() {
  return (
    <div role="status" class="connection" hidden={isReachable.value}>
      {isReachable.value
        ? ''
        : 'The service does not answer. What you see may be old; it is asked again by itself.'}
    </div>
  );
}
