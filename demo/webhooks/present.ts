// Words about deliveries for a person at the terminal.

import type { HeardDelivery } from './listener.ts';

const maxCharacters = 2_000;
/** Control characters, which could change the terminal. JSON escapes those below the space. */
const unprintable = /[\u007f-\u009f\u2028\u2029]/g;

/** One line: the body as it came, cut where it is long. */
export function deliveryLine({ deliveryId, eventType, body }: HeardDelivery): string {
  const shown = body.length > maxCharacters ? `${body.slice(0, maxCharacters)}…` : body;
  return `200  ${eventType}  ${deliveryId}  ${shown}`.replace(unprintable, '?');
}
