// One viewer of live events: which events it is shown, at its rate, what waits for it, and its totals. It never waits
// for its reader: rows beyond a bound are dropped and counted. Where events come from is live-feed.ts's.

import { create } from '@bufbuild/protobuf';
import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type ActivityEvent,
  ActivityEventSchema,
  type WatchRow,
  WatchRowSchema,
  WatchStage,
  type WatchTotals,
  WatchTotalsSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { isRefusal, type RefusalMessage } from '../../proto/wire/live/refusal-message.ts';
import type { VerdictMessage } from '../../proto/wire/live/verdict-message.ts';
import { type EventName, nameOf } from './arriving-event.ts';
import { EventRate } from './event-rate.ts';
import { refusalOf } from './refusal-log.ts';
import type { WatchSelection } from './watch-request.ts';

/** An event that arrives; the message is made where somebody is shown it. */
export interface Arriving {
  kind: string;
  event(): ActivityEvent | undefined;
}

/** What waits for a reader: two seconds at the highest rate, or 2 MiB. */
const maxWaitingRows = 2_000;
const maxWaitingBytes = 2 * 1_048_576;
/** Events whose later stages are shown: five seconds at the highest rate, or 4 MiB. */
const maxShownEvents = 5_000;
const maxShownBytes = 4 * 1_048_576;
/** What a property takes in memory beside its texts: measured, so that many small ones take five times their JSON. */
const propertyBytes = 160;
const characterBytes = 2;
/**
 * Events that a process shows in a second, to all viewers together: each costs some 0.1 ms in its stages, and requests
 * wait meanwhile. It is what twenty viewers ask for who say nothing.
 */
const maxShownPerSecond = 1_000;
/** Events that a process reads in a second and that a filter turns down: each costs some 0.05 ms. */
const maxMissedPerSecond = 2_000;
/** Of rows that hold no event. */
const rowBytes = 300;
export const maxRowsInFrame = 500;

/** A refused event never arrives. */
const { ARRIVING, STORED, DUPLICATE, DEAD } = WatchStage;
const stagesOfEvents = [ARRIVING, STORED, DUPLICATE, DEAD];

/** Each is told, those that are 0 too. */
const noTotals = {
  ...{ arriving: 0n, stored: 0n, duplicates: 0n, refused: 0n, dead: 0n },
  ...{ sampledOut: 0n, lost: 0n },
};

interface Shown {
  event: ActivityEvent;
  bytes: number;
}

export class Viewer {
  /** Whether it is shown anything of events that arrive, now or later. */
  readonly followsEvents: boolean;
  readonly #selection: WatchSelection;
  readonly #nowMs: () => number;
  readonly #shown = new Map<EventName, Shown>();
  #shownBytes = 0;
  readonly #rows: { row: WatchRow; bytes: number }[] = [];
  #waitingBytes = 0;
  #totals = { ...noTotals };
  readonly #shownRate: EventRate;
  /** Of events that are read and do not meet the filters: they cost as much as those that do. */
  readonly #missedRate: EventRate;
  #wake = (): void => {};

  constructor(selection: WatchSelection, nowMs: () => number) {
    this.#selection = selection;
    this.#nowMs = nowMs;
    this.followsEvents = stagesOfEvents.some(selection.shows);
    this.#shownRate = new EventRate(selection.samplePerSecond, nowMs);
    this.#missedRate = new EventRate(maxMissedPerSecond, nowMs);
  }

  /** Its share of the process: it gets no more, whatever it asked for. */
  limitRate(share: number): void {
    this.#shownRate.limit(Math.min(this.#selection.samplePerSecond, share * maxShownPerSecond));
    this.#missedRate.limit(share * maxMissedPerSecond);
  }

  /** Whether its rates leave room for one more event now. */
  get hasRoom(): boolean {
    return this.#shownRate.hasRoom && this.#missedRate.hasRoom;
  }

  /** Events of its project have arrived, looked at or not. */
  countArriving(events: number): void {
    this.#totals.arriving += BigInt(events);
  }

  /** Events were not looked at. */
  countSampledOut(events: number): void {
    this.#totals.sampledOut += BigInt(events);
  }

  arrive(arriving: Arriving, timeMs: number): void {
    const { hasKind, meetsFilters } = this.#selection;
    if (!this.followsEvents || !hasKind(arriving.kind)) return;
    if (!this.hasRoom) {
      this.countSampledOut(1);
      return;
    }
    const event = arriving.event();
    if (event === undefined || !meetsFilters(event)) {
      this.#missedRate.take();
      return;
    }
    this.#shownRate.take();
    const bytes = bytesOf(event);
    this.#remember(nameOf(event.eventId), { event, bytes });
    this.#push(WatchStage.ARRIVING, event, { timeMs, bytes });
  }

  judge(verdict: VerdictMessage): void {
    const { timeMs, stored, duplicates, dead } = verdict;
    this.#totals.stored += BigInt(stored);
    this.#totals.duplicates += BigInt(duplicates);
    this.#totals.dead += BigInt(dead);
    this.#tellOf(verdict.storedIds, WatchStage.STORED, timeMs);
    this.#tellOf(verdict.duplicateIds, WatchStage.DUPLICATE, timeMs);
    for (const { eventId, kind, reason } of verdict.deadEvents) {
      const shown = this.#shown.get(nameOf(eventId));
      const event = shown?.event ?? create(ActivityEventSchema, { eventId, kind });
      if (shown === undefined && !this.#takesUnseen(WatchStage.DEAD, kind)) continue;
      this.#push(WatchStage.DEAD, event, { timeMs, bytes: shown?.bytes ?? rowBytes, rule: reason });
    }
  }

  refuse(message: RefusalMessage): void {
    const { kind, rule, timeMs, untold } = message;
    this.#totals.refused += BigInt(untold);
    if (!isRefusal(message)) return;
    this.#totals.refused++;
    if (!this.#takesUnseen(WatchStage.REFUSED, kind)) return;
    const event = create(ActivityEventSchema, { kind });
    const refusal = refusalOf(message);
    this.#push(WatchStage.REFUSED, event, { timeMs, bytes: rowBytes, rule, refusal });
  }

  /** The rows that wait, at most a frame's. */
  take(): WatchRow[] {
    const taken = this.#rows.splice(0, maxRowsInFrame);
    for (const { bytes } of taken) this.#waitingBytes -= bytes;
    return taken.map(({ row }) => row);
  }

  /** Since the totals before. `lagMs`: undefined while nobody knows. */
  takeTotals(lagMs: number | undefined): WatchTotals {
    const lag = lagMs === undefined ? {} : { lag: durationFromMs(lagMs) };
    const time = timestampFromMs(this.#nowMs());
    const totals = create(WatchTotalsSchema, { ...this.#totals, ...lag, time });
    this.#totals = { ...noTotals };
    return totals;
  }

  /** Resolves once rows wait, `wake` is called, or `atMostMs` have passed. */
  waiting(atMostMs: number): Promise<void> {
    if (this.#rows.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, atMostMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  wake(): void {
    this.#wake();
  }

  /** Whether a row of an event that was not seen is shown: of its properties nothing is known. */
  #takesUnseen(stage: WatchStage, kind: string): boolean {
    const { hasFilters, hasKind, shows } = this.#selection;
    // A stage that nobody asked for takes nothing of the rate.
    if (hasFilters || !shows(stage) || !hasKind(kind)) return false;
    if (this.hasRoom) {
      this.#shownRate.take();
      return true;
    }
    this.countSampledOut(1);
    return false;
  }

  #tellOf(ids: Uint8Array, stage: WatchStage, timeMs: number): void {
    if (this.#shown.size === 0 || ids.length === 0) return;
    const digits = Buffer.from(ids).toString('hex');
    for (let at = 0; at < digits.length; at += 32) {
      const shown = this.#shown.get(digits.slice(at, at + 32));
      if (shown !== undefined) this.#push(stage, shown.event, { timeMs, bytes: shown.bytes });
    }
  }

  #remember(name: EventName, shown: Shown): void {
    this.#forget(name);
    this.#shown.set(name, shown);
    this.#shownBytes += shown.bytes;
    for (const oldest of this.#shown.keys()) {
      if (this.#shown.size <= maxShownEvents && this.#shownBytes <= maxShownBytes) return;
      this.#forget(oldest);
    }
  }

  #forget(name: EventName): void {
    this.#shownBytes -= this.#shown.get(name)?.bytes ?? 0;
    this.#shown.delete(name);
  }

  #push(
    stage: WatchStage,
    event: ActivityEvent,
    {
      timeMs,
      bytes,
      ...rest
    }: { timeMs: number; bytes: number } & Pick<Partial<WatchRow>, 'rule' | 'refusal'>,
  ): void {
    if (!this.#selection.shows(stage)) return;
    if (this.#rows.length >= maxWaitingRows || this.#waitingBytes + bytes > maxWaitingBytes) {
      this.#totals.lost++;
      return;
    }
    const row = create(WatchRowSchema, { stage, time: timestampFromMs(timeMs), ...rest });
    // Not through `create`, which would copy every property.
    row.event = event;
    this.#rows.push({ row, bytes });
    this.#waitingBytes += bytes;
    this.#wake();
  }
}

/** What an event takes in memory, about. A request's mean would hide a large event among small ones. */
function bytesOf({ distinctId, autoProperties, customProperties }: ActivityEvent): number {
  let [bytes, characters] = [rowBytes, distinctId.length];
  for (const properties of [autoProperties, customProperties]) {
    for (const [key, { value }] of Object.entries(properties)) {
      bytes += propertyBytes;
      characters += key.length + (value.case === 'stringValue' ? value.value.length : 0);
    }
  }
  return bytes + characterBytes * characters;
}
