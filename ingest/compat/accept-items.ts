// Accepts what a decoder found, in the way of BatchCreate and Identify: the scanner's rules, the key's limit,
// cookieless ids, the same frames. One bad event is told and left out, the others are taken.

import { projectMark } from '../../proto/wire/frame.ts';
import {
  type AuthenticatedCall,
  acceptEvents,
  bodyContext,
  countAnswer,
  type IngestParts,
} from '../rpc/accept.ts';
import { type Answer, identityRefusal, type Refusal, violationRefusal } from '../rpc/answer.ts';
import { acceptChange, countAnswer as countChange, type IdentifyParts } from '../rpc/identify.ts';
import type { ReadChange } from '../validation/identity-rules.ts';
import type { ReadBody } from '../validation/text/reference-body.ts';
import type { Violation } from '../validation/violation.ts';
import type { Decoded } from './endpoint.ts';
import { type DraftedEvent, keptBody } from './kept-events.ts';
import type { KnownLinks } from './known-links.ts';
import type { DraftContext, EventDraft } from './mapping/event-draft.ts';
import { readIdentityCall } from './mapping/identity-call.ts';

export interface ItemParts {
  events: IngestParts;
  changes: IdentifyParts;
  links: KnownLinks;
}

type ItemCall = Omit<AuthenticatedCall, 'project' | 'timeShiftMs'> & {
  draft: DraftContext;
  /** Told of everything that is left out. */
  tell: (refusal: Refusal) => void;
};

export type Outcome = { kind: 'accepted'; events: number } | Refusal;

/** A body of the typed shape is begun anew at either. */
const maxChunkEvents = 1_000;
const maxChunkCharacters = 1_048_576;
/** Changes that wait for the broker at once. */
const changesAtOnce = 100;

/** A refusal only where the request should come again: then nobody knows what was taken, and ids tell repetitions. */
export async function acceptItems(
  call: ItemCall,
  decoded: Decoded,
  parts: ItemParts,
): Promise<Outcome> {
  for (let count = 0; count < decoded.unreadable; count++) {
    call.tell(violationRefusal({ index: -1, field: '', rule: 'event_object' }));
  }
  let events = 0;
  const canBeCookieless = parts.events.callers.identity(call.request) !== undefined;
  for (const chunk of chunksOf(decoded.events, call, canBeCookieless)) {
    const answer = await acceptChunk(call, chunk, parts.events);
    if (answer.kind === 'refused') return answer;
    events += answer.events;
  }
  const refused = await acceptCalls(call, decoded, parts);
  return refused ?? { kind: 'accepted', events };
}

/** Writes the events, so many at a time that each body keeps within the bounds of one. */
function* chunksOf(
  drafts: readonly EventDraft[],
  call: ItemCall,
  canBeCookieless: boolean,
): Generator<DraftedEvent[]> {
  let chunk: DraftedEvent[] = [];
  let characters = 0;
  for (const [index, draft] of drafts.entries()) {
    const written = draft.write(call.draft);
    if (written.isCookieless && !canBeCookieless) {
      call.tell({ ...identityRefusal(), place: { index, field: '', eventKind: written.kind } });
      continue;
    }
    const isFull =
      chunk.length === maxChunkEvents || characters + written.text.length > maxChunkCharacters;
    if (isFull && chunk.length > 0) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push({ draft, written, index });
    characters += written.text.length;
  }
  if (chunk.length > 0) yield chunk;
}

async function acceptChunk(
  call: ItemCall,
  chunk: readonly DraftedEvent[],
  parts: IngestParts,
): Promise<Answer> {
  const read = readChunk(call, chunk, parts);
  if (read === undefined) return { kind: 'accepted', events: 0 };
  const project = projectMark(call.principal.projectId);
  const answer = await acceptEvents({ ...call, project, timeShiftMs: 0 }, read, parts);
  countAnswer(answer, parts.metrics);
  return answer;
}

/** Undefined where no event is left. */
function readChunk(
  call: ItemCall,
  chunk: readonly DraftedEvent[],
  parts: IngestParts,
): ReadBody | undefined {
  const times = { receiveTimeMs: call.receiveTimeMs, timeShiftMs: 0 };
  const body = bodyContext(call.principal, times, undefined, parts);
  const tell = ({ index, written }: DraftedEvent, violation: Violation): void =>
    call.tell(violationRefusal({ ...violation, index, eventKind: written.kind }));
  return keptBody(chunk, { draft: call.draft, body, tell });
}

/** The first refusal that asks for a repetition; what breaks a rule is told and left out. */
async function acceptCalls(
  call: ItemCall,
  { calls }: Decoded,
  { changes: parts, links }: ItemParts,
): Promise<Refusal | undefined> {
  const { projectId } = call.principal;
  const changes: ValidChange[] = [];
  for (const identity of calls) {
    const read = readIdentityCall(identity);
    for (const change of read.changes) {
      if (change.kind === 'valid' && !links.has(projectId, change.change)) changes.push(change);
    }
    for (const violation of read.violations) call.tell(violationRefusal(violation));
  }
  for (let first = 0; first < changes.length; first += changesAtOnce) {
    const some = changes.slice(first, first + changesAtOnce);
    const answers = await Promise.all(some.map((change) => acceptChange(call, change, 0, parts)));
    for (const answer of answers) countChange(answer, parts.metrics);
    const refused = answers.find((answer) => answer.kind === 'refused');
    if (refused?.kind === 'refused') return refused;
    for (const { change } of some) links.add(projectId, change);
  }
  return undefined;
}

type ValidChange = Extract<ReadChange, { kind: 'valid' }>;
