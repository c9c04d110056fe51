// The archives of Segment and RudderStack: a row is a message as the SDK sent it, with the time set right.

import { decodeMessages } from '../../ingest/compat/families/segment-spec.ts';
import { timeMsOf } from '../../ingest/compat/mapping/sent-values.ts';
import { fieldOf, isObject } from '../../platform/json.ts';
import { putDescribed } from '../describe/described.ts';
import { type HistoryFamily, liveDoubtMs, type RowSink, reasons } from './history-family.ts';

const messages = { form: 'json lines', timeDoubtMs: liveDoubtMs, decode } as const;
export const segment: HistoryFamily = { name: 'segment', ...messages };
export const rudderstack: HistoryFamily = { name: 'rudderstack', ...messages };

function decode(value: unknown, sink: RowSink): string | undefined {
  if (!isObject(value)) return reasons.row_object;
  if (typeof value['type'] !== 'string') return reasons.message_type;
  // `timestamp` is right already: by `originalTimestamp`, the device's clock, it would be wrong.
  const { originalTimestamp, sentAt, ...sent } = value;
  const timestamp = sent['timestamp'] ?? originalTimestamp ?? sent['receivedAt'];
  const message = { ...sent, timestamp };
  const { events, calls } = decodeMessages({ batch: [message] }, undefined);
  const context = value['context'];
  const page = fieldOf(context, 'page');
  for (const draft of events) {
    putDescribed(draft, {
      url: fieldOf(page, 'url'),
      referrer: fieldOf(page, 'referrer'),
      userAgent: fieldOf(context, 'userAgent'),
    });
    sink.event(draft);
  }
  for (const call of calls) sink.call(call, timeMsOf(timestamp) ?? 0);
  return undefined;
}
