import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { newAlertState } from '../../platform/alerts/alert-state.ts';
import {
  AlertConditionKind,
  AlertConditionSchema,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { afterLook, changePercent, nextState, withoutData } from './next-state.ts';

const { ABOVE, BELOW, CHANGE_ABOVE, CHANGE_BELOW } = AlertConditionKind;
const condition = (kind: AlertConditionKind, threshold: number, recoveryThreshold?: number) =>
  create(AlertConditionSchema, {
    ...{ kind, threshold },
    ...(recoveryThreshold !== undefined && { recoveryThreshold }),
  });

/** The states after each of the values, from OK on. */
function statesAfter(of: ReturnType<typeof condition>, values: readonly (number | null)[]) {
  let state: ReturnType<typeof nextState> = 'OK';
  return values.map((value) => {
    state = nextState(state, of, value);
    return state;
  });
}

it('fires beyond the line, and ends at the recovery threshold', () => {
  const values = [10, 11, 10, 9, 8, 9, 11, null, 9];
  const states = ['OK', 'FIRING', 'FIRING', 'FIRING', 'OK', 'OK', 'FIRING', 'NO_DATA', 'OK'];
  expect(statesAfter(condition(ABOVE, 10, 8), values)).toEqual(states);
  expect(statesAfter(condition(CHANGE_ABOVE, 10, 8), values)).toEqual(states);
  const turned = values.map((value) => (value === null ? null : -value));
  expect(statesAfter(condition(BELOW, -10, -8), turned)).toEqual(states);
  expect(statesAfter(condition(CHANGE_BELOW, -10, -8), turned)).toEqual(states);
});

it('ends at the line itself where no recovery threshold is given', () => {
  expect(statesAfter(condition(ABOVE, 10), [11, 10.5, 10, 11])).toEqual([
    ...['FIRING', 'FIRING', 'OK', 'FIRING'],
  ]);
  expect(statesAfter(condition(BELOW, 1), [0, 1])).toEqual(['FIRING', 'OK']);
});

it('tells a change in per cent, and none from nothing', () => {
  expect(changePercent(15, 10)).toBe(50);
  expect(changePercent(5, 10)).toBe(-50);
  expect(changePercent(-5, -10)).toBe(50);
  expect(changePercent(5, 0)).toBeNull();
});

it('keeps the newest looks and changes, and one change for each change of state', () => {
  let record = newAlertState('alert');
  for (let count = 0; count < 150; count += 1) {
    const look = { fromMs: count, toMs: count + 1, value: count % 2 };
    const made = { changeId: `change ${count}`, nowMs: count + 2 };
    record = afterLook(record, condition(ABOVE, 0), look, made);
  }
  expect(record.looks).toHaveLength(100);
  expect(record.changes.map(({ id }) => id)).toEqual(
    Array.from({ length: 20 }, (_, index) => `change ${index + 130}`),
  );
  expect([record.state, record.sinceMs]).toEqual(['FIRING', 151]);
  const look = { fromMs: 0, toMs: 1, value: null };
  const without = withoutData(record, look, { changeId: 'none', nowMs: 200 });
  expect([without.state, without.changes.at(-1)?.before]).toEqual(['NO_DATA', 'FIRING']);
  expect(withoutData(without, look, { changeId: 'again', nowMs: 300 })).toBe(without);
});
