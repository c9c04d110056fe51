// The calls of imports, and the words for their states and families.

import { createClient } from '@connectrpc/connect';
import { figure, milliseconds } from '../../platform/words/figures.ts';
import {
  type Import,
  type ImportProgress,
  ImportState,
  ImportsService,
} from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { transport } from '../client.ts';

export const importsClient = createClient(ImportsService, transport);

export const families = [
  { value: '', name: 'The file tells' },
  { value: 'millrace', name: 'Millrace' },
  { value: 'posthog', name: 'PostHog' },
  { value: 'mixpanel', name: 'Mixpanel' },
  { value: 'amplitude', name: 'Amplitude' },
  { value: 'segment', name: 'Segment' },
  { value: 'rudderstack', name: 'RudderStack' },
  { value: 'ga4', name: 'Google Analytics 4 (BigQuery)' },
  { value: 'snowplow', name: 'Snowplow' },
  { value: 'matomo', name: 'Matomo' },
  { value: 'umami', name: 'Umami' },
  { value: 'access-log', name: 'A web server’s access log' },
] as const;

export type Family = (typeof families)[number]['value'];

/** Empty before the file has told. */
export function familyName(family: string): string {
  return family === '' ? '' : (families.find(({ value }) => value === family)?.name ?? family);
}

export function isUnderWay({ state }: Import): boolean {
  return state <= ImportState.IMPORTING;
}

/** What a person reads of a state, and its tone. */
export function stateWords(state: ImportState): { name: string; tone: string } {
  switch (state) {
    case ImportState.UPLOADING:
      return { name: 'uploading', tone: '' };
    case ImportState.CHECKING:
      return { name: 'reading', tone: '' };
    case ImportState.CHECKED:
      return { name: 'ready', tone: 'good' };
    case ImportState.IMPORTING:
      return { name: 'importing', tone: '' };
    case ImportState.DONE:
      return { name: 'imported', tone: 'good' };
    case ImportState.FAILED:
      return { name: 'failed', tone: 'bad' };
    case ImportState.CANCELED:
    case ImportState.UNSPECIFIED:
      return { name: 'canceled', tone: '' };
    default:
      return state satisfies never;
  }
}

/** `12,000 events, 4,000 a second, 20 s left` */
export function progressWords({ done, total, events, elapsedMs }: ImportProgress): string {
  const ms = Number(elapsedMs);
  const rate = ms > 0 ? `, ${figure(Math.round((1_000 * Number(events)) / ms))} a second` : '';
  const share = Number(done) / Number(total);
  const left = share > 0 && share <= 1 ? `, ${milliseconds((ms * (1 - share)) / share)} left` : '';
  return `${figure(events)} events${rate}${left}`;
}
