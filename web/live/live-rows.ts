// The rows of the live view: one for each event, whatever its stages, and one for each refused request. The newest come
// first, and the oldest are let go beyond a bound.

import { timestampDate } from '@bufbuild/protobuf/wkt';
import { kindName } from '../../platform/words/value-words.ts';
import {
  type ActivityEvent,
  type WatchRow,
  WatchStage,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { pageOf, placeOf } from '../event/value.ts';
import { hasEachWord } from '../fields/fold-case.ts';

/** `unknown`: it arrived, and what became of it was not heard. */
export type Stage = 'arriving' | 'stored' | 'duplicate' | 'refused' | 'dead' | 'unknown';

/** A row is never changed: a later stage makes another one with the same key, so that only what changed is drawn. */
export type LiveRow = {
  key: string;
  stage: Stage;
  /** By the clock of the service; when it was first heard of. */
  since: Date;
  /** From its arrival to its stage; undefined where the arrival was not seen. */
  tookMs: number | undefined;
  kind: string;
  who: string;
  page: string;
  place: string;
  /** Alpha-2; '' where it is not known. */
  country: string;
  /** Why it was refused or is dead. */
  rule: string;
  /** What of the request broke the rule; '' where it is dead. */
  field: string;
  event: ActivityEvent | undefined;
};

export const maxLiveRows = 200;

/** A verdict comes this long after its event was stored at the latest. */
const verdictMs = 10_000;

const stages: Record<WatchStage, Stage> = {
  [WatchStage.UNSPECIFIED]: 'refused',
  [WatchStage.ARRIVING]: 'arriving',
  [WatchStage.STORED]: 'stored',
  [WatchStage.DUPLICATE]: 'duplicate',
  [WatchStage.REFUSED]: 'refused',
  [WatchStage.DEAD]: 'dead',
};

export class LiveRows {
  /** By event id, in the order of their arrival. */
  readonly #rows = new Map<string, LiveRow>();
  #refused = 0;

  /** Takes rows of the stream; answers those of events that were not known before. */
  take(rows: readonly WatchRow[]): LiveRow[] {
    const fresh: LiveRow[] = [];
    for (const row of rows) {
      const next = this.#read(row);
      const before = this.#rows.get(next.key);
      if (!before) fresh.push(next);
      this.#rows.set(next.key, before ? later(before, next) : next);
    }
    for (const key of this.#rows.keys()) {
      if (this.#rows.size <= maxLiveRows) break;
      this.#rows.delete(key);
    }
    return fresh;
  }

  /**
   * To be called where all accepted events are counted: one that still seems to arrive was judged while nobody heard
   * it, or was not accepted. Answers whether there was one.
   */
  giveUp(nowMs: number): boolean {
    let hasChanged = false;
    for (const [key, row] of this.#rows) {
      if (row.stage !== 'arriving' || nowMs - row.since.getTime() < verdictMs) continue;
      this.#rows.set(key, { ...row, stage: 'unknown' });
      hasChanged = true;
    }
    return hasChanged;
  }

  newestFirst(): LiveRow[] {
    return [...this.#rows.values()].reverse();
  }

  #read({ stage, event, time, rule, refusal }: WatchRow): LiveRow {
    const name = stages[stage];
    if (name === 'refused') this.#refused += 1;
    return {
      key: name === 'refused' || !event?.eventId ? `${name} ${this.#refused}` : event.eventId,
      stage: name,
      since: time ? timestampDate(time) : new Date(),
      tookMs: undefined,
      kind: event?.kind || refusal?.kind || '',
      who: event?.distinctId || refusal?.sdk || '',
      page: event ? pageOf(event) : '',
      place: event ? placeOf(event) : '',
      country: event ? countryOf(event) : '',
      rule,
      field: refusal?.field ?? '',
      event: name === 'refused' ? undefined : event,
    };
  }
}

/** The row of an event whose next stage came. An event that is sent again arrives again: its stage stays until then. */
function later(before: LiveRow, next: LiveRow): LiveRow {
  if (next.stage === 'arriving') return before;
  const { stage, rule } = next;
  return { ...before, stage, rule, tookMs: next.since.getTime() - before.since.getTime() };
}

function countryOf({ autoProperties }: ActivityEvent): string {
  const value = autoProperties['$country']?.value;
  return value?.case === 'stringValue' ? value.value.toUpperCase() : '';
}

/** Whether each word of a search is somewhere in what the row shows. */
export function hasWords(row: LiveRow, search: string): boolean {
  const { stage, kind, who, page, place, rule, field } = row;
  return hasEachWord(
    `${stage} ${kind} ${kindName(kind)} ${who} ${page} ${place} ${rule} ${field}`,
    search,
  );
}
