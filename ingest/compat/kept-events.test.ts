// Events that break a rule are found among others as each is alone, and told in their order.

import { expect, it } from 'vitest';
import { type DraftedEvent, type EventRules, keptEvents } from './kept-events.ts';
import { type DraftContext, EventDraft } from './mapping/event-draft.ts';

const context: DraftContext = {
  projectId: '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
  family: 'posthog',
  receiveTimeMs: Date.UTC(2026, 10, 28),
  correctsClock: false,
};

/** Each of these breaks another rule, or none. */
const makers: readonly ((draft: EventDraft) => void)[] = [
  () => {},
  (draft) => {
    draft.distinctId = 'x'.repeat(513);
  },
  (draft) => {
    draft.timeMs = Date.UTC(1999, 0, 1);
  },
  (draft) => draft.properties.put('product_id', 'kettle'),
];
const names = ['$pageview', 'Product Viewed', 'Order Completed', 'signed up'];

function drafted(n: number): DraftedEvent {
  const draft = new EventDraft(names[(n * 7) % names.length] ?? '');
  draft.id = String(n);
  draft.distinctId = 'user';
  draft.timeMs = context.receiveTimeMs;
  // Long stretches of events that all keep the rules, and that all break one.
  const mixed = n % 3 === 0 ? (n * 13) % 11 : 0;
  makers[n > 150 && n < 200 ? 1 : mixed]?.(draft);
  return { draft, written: draft.write(context), index: n };
}

it('the same events are kept and told, whether they come together or alone', () => {
  const chunk = Array.from({ length: 300 }, (_, n) => drafted(n));
  const [together, alone] = [checked([chunk]), checked(chunk.map((event) => [event]))];
  expect(together).toEqual(alone);
  const rules = new Set(together.told.map(([, rule]) => rule));
  expect(rules.size).toBeGreaterThanOrEqual(3);
  expect(together.kept.length).toBeGreaterThan(200);
});

it('a body of which no event keeps the rules is empty', () => {
  const chunk = Array.from({ length: 9 }, (_, n) => drafted(155 + n));
  expect(checked([chunk]).kept).toEqual([]);
  expect(checked([[]]).kept).toEqual([]);
});

function checked(chunks: readonly DraftedEvent[][]) {
  const told: [index: number, rule: string, field: string, isKept: boolean][] = [];
  const rules: EventRules = {
    draft: context,
    body: {
      receiveTimeMs: context.receiveTimeMs,
      ...{ maxBodyBytes: 8 * 1_048_576, maxAgeMs: Number.POSITIVE_INFINITY },
    },
    tell: ({ index }, { rule, field }, isKept) => told.push([index, rule, field, isKept]),
  };
  const kept = chunks.flatMap((chunk) =>
    keptEvents(chunk, rules).map(({ index, written }) => [index, written.text]),
  );
  return { kept, told };
}
