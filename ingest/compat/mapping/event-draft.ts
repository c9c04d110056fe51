// One event as a decoder of another vendor's request finds it, and its text in the typed shape. Ids, times and kinds
// are made here, the same for all families; whether the event keeps the rules is looked at later.

import { randomUUID } from 'node:crypto';
import { isUuid, uuidV5 } from '../../validation/text/uuid.ts';
import { kindOf } from './kinds.ts';
import { flat, PropertyText, quoted } from './property-text.ts';
import { timestampText } from './timestamp-text.ts';

/** What the texts of a request's events depend on besides the events. */
export interface DraftContext {
  projectId: string;
  /** Its name is part of the ids that are made. */
  family: string;
  receiveTimeMs: number;
  /** Whether a sender's clock is doubted: a private key's times are the sender's word. */
  correctsClock: boolean;
}

export interface WrittenEvent {
  text: string;
  kind: string;
  eventId: string;
  occurTimeMs: number;
  isCookieless: boolean;
}

/** A clock that is off by less is as right as clocks are. */
const toleratedMs = 60_000;
/** The last moment that a timestamp can name. */
const maxTimeMs = 253_402_300_799_999;

export class EventDraft {
  readonly properties = new PropertyText();
  /** The SDK's own name of the event. */
  readonly name: string;
  /** Where the name alone does not tell it. */
  kind: string | undefined;
  /** The sender's id, UUID or not. */
  id: string | undefined;
  timeMs: number | undefined;
  /** When it was sent, by the clock of `timeMs`. */
  sentMs: number | undefined;
  /** Absent, the event is of the visitor whom address and agent tell. */
  distinctId: string | undefined;
  /** Any text that is the same for all events of a visit, and for no others. */
  session: string | undefined;
  #eventId: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** `isUnchecked`: under a kind of its own, because the well-known kind refuses its properties. */
  write(context: DraftContext, isUnchecked = false): WrittenEvent {
    const { distinctId } = this;
    const meant = this.kind ?? kindOf(this.name);
    const kind = isUnchecked ? `${meant}_unchecked` : meant;
    const properties = this.properties.text(kind === this.name ? undefined : this.name);
    const isCookieless = distinctId === undefined;
    const who = isCookieless
      ? '"cookieless":true'
      : `"distinctId":${quoted(distinctId)}${this.#sessionText(context)}`;
    const occurTimeMs = this.#occurTimeMs(context);
    const time = `"occurTime":"${timestampText(occurTimeMs)}"`;
    const eventId = this.#eventId ?? this.#makeEventId(context, properties);
    this.#eventId = eventId;
    const text = flat(`{"eventId":"${eventId}","kind":"${kind}",${time},${who},${properties}}`);
    return { text, kind, eventId, occurTimeMs, isCookieless };
  }

  #sessionText({ projectId, family }: DraftContext): string {
    const { session } = this;
    if (session === undefined || session === '') return '';
    const id = isUuid(session)
      ? session
      : uuidV5(projectId, JSON.stringify([family, 'session', session]));
    return `,"sessionId":"${id}"`;
  }

  /** The moment of receipt where the sender tells none that there is. */
  #occurTimeMs({ receiveTimeMs, correctsClock }: DraftContext): number {
    const { timeMs, sentMs } = this;
    if (!isTime(timeMs)) return receiveTimeMs;
    if (!correctsClock || !isTime(sentMs)) return timeMs;
    const shiftMs = receiveTimeMs - sentMs;
    const movedMs = timeMs + shiftMs;
    return Math.abs(shiftMs) > toleratedMs && isTime(movedMs) ? movedMs : timeMs;
  }

  /** A repetition has the same id, where the sender gave an id or a time. */
  #makeEventId({ projectId, family }: DraftContext, properties: string): string {
    const { id, timeMs } = this;
    if (id !== undefined && id !== '') {
      return isUuid(id) ? id : uuidV5(projectId, JSON.stringify([family, id]));
    }
    if (!isTime(timeMs)) return randomUUID();
    const content = [family, this.distinctId ?? '', this.name, timeMs, properties];
    return uuidV5(projectId, JSON.stringify(content));
  }
}

function isTime(ms: number | undefined): ms is number {
  return ms !== undefined && ms >= 0 && ms <= maxTimeMs;
}
