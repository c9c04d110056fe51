// The fast path for a JSON body of the typed shape, from its bytes to the bytes that are queued, in one pass of the
// scanner. The body is queued as it came, except for values under "$ip", which are overwritten. The reference path
// takes the bodies that the scanner has no room for, and is its oracle in tests.

import { jsonFaultAt } from '../../../platform/json-fault.ts';
import * as limits from '../../../platform/limits.ts';
import { BatchCreateRequestSchema } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { blankRanges, createScanner } from '../../../proto/wire/scanner/scanner.ts';
import type { ScannerViolation } from '../../../proto/wire/scanner/verdict.ts';
import { wellKnownKinds } from '../../../proto/wire/well-known-kinds.ts';
import { tooOldDetail, type Violation } from '../violation.ts';
import { blankUnknown, knownMembers } from './known-members.ts';
import {
  type BodyContext,
  invalidBody,
  type ReadBody,
  readJsonBody,
  sized,
} from './reference-body.ts';

// One for the process. Its memory grows with the largest body, whose size is bounded.
const scanner = createScanner(limits, wellKnownKinds);

const typedMembers = knownMembers(BatchCreateRequestSchema);

/** A body of protobuf JSON. A valid body is queued as `received` itself, with its values of `$ip` overwritten. */
export function scanJsonBody(received: Buffer, context: BodyContext): ReadBody {
  const { receiveTimeMs, timeShiftMs, maxAgeMs, sessionOptional } = context;
  const verdict = scanner.validate(received, receiveTimeMs, timeShiftMs, maxAgeMs, sessionOptional);
  if (verdict.kind === 'refused') {
    const violation = violationOf(verdict, received, context.maxAgeMs);
    return violation ? { kind: 'invalid', violation } : readJsonBody(received, context);
  }
  const { ipRanges } = verdict;
  if (ipRanges === undefined) {
    blankUnknown(received, typedMembers);
    return readJsonBody(received, context);
  }
  blankRanges(received, ipRanges);
  return sized(received, verdict, context);
}

type TextCheck =
  | { kind: 'checked'; lacksEvents: boolean }
  | { kind: 'violation'; violation: Violation }
  /** Memory ran out: nobody knows whether the text is JSON. */
  | { kind: 'unchecked' };

const textRules: ReadonlySet<string> = new Set([
  'body_utf8',
  'body_unicode',
  'body_depth',
  'member_once',
  'members_count',
]);

/** Checks a body of any request against the rules of all JSON text. */
export function textViolation(received: Buffer): TextCheck {
  const verdict = scanner.validate(received, 0);
  if (verdict.kind !== 'refused') return { kind: 'checked', lacksEvents: false };
  const { rule, index, field } = verdict;
  if (rule === 'no_memory') return { kind: 'unchecked' };
  if (rule === 'body_json') return { kind: 'violation', violation: invalidJson(received, verdict) };
  return textRules.has(rule)
    ? { kind: 'violation', violation: { index, field, rule } }
    : { kind: 'checked', lacksEvents: rule === 'events_missing' };
}

/** Undefined where memory ran out and the body is not at fault. */
function violationOf(
  verdict: ScannerViolation,
  received: Buffer,
  maxAgeMs: number,
): Violation | undefined {
  const { rule, index, field, detail, eventKind } = verdict;
  if (rule === 'no_memory') return undefined;
  if (rule === 'body_json') return invalidJson(received, verdict);
  const violation: Violation = { index, field, rule };
  if (rule === 'occur_time_too_old') violation.detail = tooOldDetail(maxAgeMs);
  if (detail !== undefined) violation.detail = detail;
  if (eventKind !== undefined) violation.eventKind = eventKind;
  return violation;
}

function invalidJson(received: Buffer, { offset }: ScannerViolation): Violation {
  return invalidBody('body_json', jsonFaultAt(received, offset)).violation;
}
