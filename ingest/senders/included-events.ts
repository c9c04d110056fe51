// Leaves the events out of a read body that their project excludes. A body of which nothing is left out is not touched;
// where some are, the rest is written and read anew, so that all its counts are those of the rest.

import { isObject, type JsonObject } from '../../platform/json.ts';
import { splitUrl } from '../../proto/wire/page-url.ts';
import { parseTimestamp } from '../validation/text/checked-timestamp.ts';
import type { BodyContext, ReadBody } from '../validation/text/reference-body.ts';
import { scanJsonBody } from '../validation/text/scan-body.ts';
import type { ExclusionRule, ExclusionRules } from './exclusion-rules.ts';

type ValidBody = Extract<ReadBody, { kind: 'valid' }>;

export interface IncludedEvents {
  /** Absent where no event is left. */
  read?: ValidBody;
  /** Absent where none is left out. */
  excluded?: { rule: ExclusionRule; events: number };
}

/** `ofRequest`: the rule that excludes the whole request. */
export function includedEvents(
  read: ValidBody,
  rules: ExclusionRules,
  ofRequest: ExclusionRule | undefined,
  context: BodyContext,
): IncludedEvents {
  if (ofRequest !== undefined) return { excluded: { rule: ofRequest, events: read.events } };
  if (!rules.judgesPaths) return { read };
  return withoutEvents(read, 'excluded_path', (event) => isExcluded(event, rules), context);
}

/** `fromMs`: the project has no events from before it. Reads a body without such an event once more, in the scanner. */
export function retainedEvents(
  read: ValidBody,
  fromMs: number,
  context: BodyContext,
): IncludedEvents {
  const { receiveTimeMs, timeShiftMs = 0 } = context;
  const maxAgeMs = receiveTimeMs - fromMs;
  // A copy: the scanner may write into what it reads.
  const looked = scanJsonBody(Buffer.from(read.body), {
    ...{ ...context, maxAgeMs },
    sessionOptional: true,
  });
  const isOlder = looked.kind === 'invalid' && looked.violation.rule === 'occur_time_too_old';
  if (!isOlder) return { read };
  const isOld = (event: unknown): boolean => occurTimeOf(event) + timeShiftMs < fromMs;
  return withoutEvents(read, 'excluded_age', isOld, { ...context, maxAgeMs: Infinity });
}

function withoutEvents(
  read: ValidBody,
  rule: ExclusionRule,
  isOut: (event: unknown) => boolean,
  context: BodyContext,
): IncludedEvents {
  const events = eventsOf(read.body);
  const left = events.flatMap((event, index) => (isOut(event) ? [] : [index]));
  if (left.length === events.length) return { read };
  const excluded = { rule, events: events.length - left.length };
  if (left.length === 0) return { excluded };
  const body = written(events, left);
  const counted = scanJsonBody(body, { ...context, sessionOptional: true });
  if (counted.kind === 'invalid') throw new Error('a part of a valid body is not valid');
  const rest: ValidBody = { ...counted, body };
  const { nameCookieless } = read;
  if (nameCookieless === undefined) return { read: rest, excluded };
  // Ids are written into the body that was read, each in its place; the rest is as long with them as without.
  const nameRest = (ids: Parameters<typeof nameCookieless>[0]): void => {
    nameCookieless(ids);
    body.set(written(eventsOf(read.body), left));
  };
  return { read: { ...rest, nameCookieless: nameRest }, excluded };
}

function written(events: readonly unknown[], left: readonly number[]): Buffer {
  return Buffer.from(JSON.stringify({ events: left.map((index) => events[index]) }));
}

function eventsOf(body: Uint8Array): readonly unknown[] {
  const { buffer, byteOffset, byteLength } = body;
  const request: unknown = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString());
  const events = isObject(request) ? request['events'] : undefined;
  return Array.isArray(events) ? events : [];
}

/** Cookieless events have their own bound, of days: NaN, which is never less. */
function occurTimeOf(event: unknown): number {
  if (!isObject(event) || event['cookieless'] === true) return Number.NaN;
  const time = event['occurTime'] ?? event['occur_time'];
  return typeof time === 'string' ? parseTimestamp(time) : Number.NaN;
}

function isExcluded(event: unknown, rules: ExclusionRules): boolean {
  const path = pathOf(event);
  return path !== undefined && rules.isPathExcluded(path);
}

/** The path as pages show it: the sender's own, else that of the page's address. */
function pathOf(event: unknown): string | undefined {
  if (!isObject(event)) return undefined;
  const properties = event['autoProperties'] ?? event['auto_properties'];
  if (!isObject(properties)) return undefined;
  const sent = textOf(properties, '$pathname');
  if (sent !== undefined) return sent;
  const url = textOf(properties, '$url');
  return url === undefined ? undefined : splitUrl(url).pathname;
}

function textOf(properties: JsonObject, key: string): string | undefined {
  const value = properties[key];
  if (!isObject(value)) return undefined;
  const text = value['stringValue'] ?? value['string_value'];
  return typeof text === 'string' ? text : undefined;
}
