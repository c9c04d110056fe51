// A JSON body of the typed shape from its bytes to the bytes that are queued, in one pass of the scanner: queued as it
// came, but for what stands under "$ip", which is written over. The readable rules do not run here: they are what the
// scanner is held to, and the way of a body that it has no room for.

import * as limits from '../../../platform/limits.ts';
import { blankRanges, createScanner } from '../../../proto/wire/scanner/scanner.ts';
import type { ScannerRefusal } from '../../../proto/wire/scanner/verdict.ts';
import { wellKnownKinds } from '../../../proto/wire/well-known-kinds.ts';
import { type BodyContext, type ReadBody, readJsonBody, sized } from './reference-body.ts';

// One for the process. Its memory grows to what the largest body needs, which is bounded as bodies are.
const scanner = createScanner(limits, wellKnownKinds);

/** A body of protobuf JSON; a valid one is queued in these very bytes, and `received` may be changed. */
export function scanJsonBody(received: Buffer, context: BodyContext): ReadBody {
  const verdict = scanner.validate(received, context.receiveTimeMs);
  if (verdict.kind === 'refused') return refused(verdict) ?? readJsonBody(received, context);
  const { ipRanges } = verdict;
  if (ipRanges === undefined) return readJsonBody(received, context);
  blankRanges(received, ipRanges);
  return sized(received, verdict, context);
}

/** Undefined where the body is not to blame. */
function refused({ rule, index, field, detail }: ScannerRefusal): ReadBody | undefined {
  if (rule === 'no_memory') return undefined;
  const violation = { index, field, rule };
  return {
    kind: 'invalid',
    violation: detail === undefined ? violation : { ...violation, detail },
  };
}
