// Alerts in words: states with their tones, conditions and intervals.

import { createClient } from '@connectrpc/connect';
import { figure } from '../../platform/words/figures.ts';
import {
  type AlertCondition,
  type AlertLook,
  AlertState,
  AlertsService,
  AlertInterval as Interval,
  AlertConditionKind as Kind,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { transport } from '../client.ts';

export const alertsClient = createClient(AlertsService, transport);

export function stateOf(state: AlertState): { name: string; tone: string } {
  switch (state) {
    case AlertState.OK:
      return { name: 'OK', tone: 'good' };
    case AlertState.FIRING:
      return { name: 'firing', tone: 'bad' };
    case AlertState.NO_DATA:
      return { name: 'no data', tone: 'warn' };
    case AlertState.UNSPECIFIED:
      return { name: 'not checked yet', tone: '' };
    default:
      return state satisfies never;
  }
}

export const kinds: readonly { value: string; name: string }[] = [
  { value: String(Kind.ABOVE), name: 'is above' },
  { value: String(Kind.BELOW), name: 'is below' },
  { value: String(Kind.CHANGE_ABOVE), name: 'changed by more than, in %' },
  { value: String(Kind.CHANGE_BELOW), name: 'changed by less than, in %' },
];

export const intervals: readonly { value: string; name: string }[] = [
  { value: String(Interval.FIVE_MINUTES), name: 'Five minutes' },
  { value: String(Interval.HOUR), name: 'An hour' },
  { value: String(Interval.DAY), name: 'A day' },
];

export function isOfChange({ kind }: Pick<AlertCondition, 'kind'>): boolean {
  return kind === Kind.CHANGE_ABOVE || kind === Kind.CHANGE_BELOW;
}

export function isAbove(kind: Kind): boolean {
  return kind === Kind.ABOVE || kind === Kind.CHANGE_ABOVE;
}

/** "above 10 in an hour", "below −50% of change in a day". */
export function conditionText(condition: AlertCondition | undefined, interval: Interval): string {
  if (!condition) return '';
  const unit = isOfChange(condition) ? '% of change' : '';
  const side = isAbove(condition.kind) ? 'above' : 'below';
  const length = intervals.find(({ value }) => value === String(interval))?.name ?? '';
  return `${side} ${figure(condition.threshold)}${unit} in ${length.toLowerCase()}`;
}

export function lookText(
  look: AlertLook | undefined,
  condition: AlertCondition | undefined,
): string {
  if (look?.value === undefined) return '–';
  return `${figure(look.value)}${condition && isOfChange(condition) ? '%' : ''}`;
}
