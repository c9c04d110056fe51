import { expect, it } from 'vitest';
import { checkWellKnown } from '../../ingest/validation/well-known-rules.ts';
import { type WellKnownCheck, wellKnownKinds } from './well-known-kinds.ts';

/** For each check: a value that passes it, and the rule that an empty string breaks. */
const samples: Record<WellKnownCheck, [value: object, rule: string | undefined]> = {
  id: [{ intValue: '1' }, 'well_known_id'],
  text: [{ stringValue: '' }, undefined],
  non_empty_text: [{ stringValue: 'a' }, 'well_known_non_empty'],
  amount: [{ doubleValue: 0.5 }, 'well_known_amount'],
  currency: [{ stringValue: 'EUR' }, 'well_known_currency'],
  click_count: [{ intValue: '2' }, 'well_known_click_count'],
  percent: [{ doubleValue: 100 }, 'well_known_percent'],
  score: [{ intValue: '10' }, 'well_known_score'],
};

it('every check takes its sample on the reference path, and refuses an empty string under its own rule', () => {
  for (const [kind, properties] of wellKnownKinds) {
    const valid = Object.fromEntries(
      properties.map(({ snakeName, check }) => [snakeName, samples[check][0]]),
    );
    expect(checkWellKnown(kind, valid)).toBeUndefined();
    for (const { snakeName, check } of properties) {
      const broken = { ...valid, [snakeName]: { stringValue: '' } };
      expect(checkWellKnown(kind, broken)?.rule).toBe(samples[check][1]);
    }
  }
});
