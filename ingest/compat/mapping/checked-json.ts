// Parses JSON that keeps the rules of every body's text: depth, members of an object, UTF-8. Half a surrogate pair,
// which JavaScript's own JSON.stringify writes, becomes U+FFFD: an SDK's whole batch would be lost with it.

import type { ParsedJson } from '../../validation/text/reference-body.ts';
import { invalidBody } from '../../validation/text/reference-body.ts';
import { textViolation } from '../../validation/text/scan-body.ts';
import type { Violation } from '../../validation/violation.ts';

/** An escaped half: a high one without a low one behind it, or a low one without a high one before it. */
const halfPair =
  /(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F][\da-fA-F]{2})/g;

export function readCheckedJson(text: Buffer): ParsedJson {
  const violation = violationOf(text);
  if (violation === undefined) return parse(text.toString());
  if (violation.rule !== 'body_unicode') return { kind: 'invalid', violation };
  const mended = text.toString().replace(halfPair, '$1\\ufffd');
  const left = violationOf(Buffer.from(mended));
  return left === undefined ? parse(mended) : { kind: 'invalid', violation: left };
}

function violationOf(text: Buffer): Violation | undefined {
  const checked = textViolation(text);
  switch (checked.kind) {
    case 'checked':
      return undefined;
    case 'violation':
      return { ...checked.violation, index: -1 };
    case 'unchecked':
      return invalidBody('body_size').violation;
    default:
      return checked satisfies never;
  }
}

function parse(text: string): ParsedJson {
  try {
    return { kind: 'parsed', value: JSON.parse(text) };
  } catch {
    return invalidBody('body_json');
  }
}
