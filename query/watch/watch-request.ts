// Checks ActivityService.Watch's request and turns it into what a viewer asks: which events, which stages, how many.

import { maxKindCharacters } from '../../platform/limits.ts';
import type {
  ActivityEvent,
  WatchRequest,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { WatchStage } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { eventPredicate } from '../filters/event-predicate.ts';
import { checkFilterCount, checkFilters, looksForPart } from '../filters/filter-bounds.ts';
import { invalidArgument } from '../invalid-argument.ts';

/** Events a second that are shown: without a number, and at most. */
const defaultSample = 50;
const maxSample = 1_000;
const maxKinds = 100;

/** A checked request. */
export interface WatchSelection {
  samplePerSecond: number;
  shows(stage: WatchStage): boolean;
  hasKind(kind: string): boolean;
  /** With a filter, only events whose properties are known can be shown. */
  hasFilters: boolean;
  meetsFilters(event: ActivityEvent): boolean;
}

/** Throws invalid_argument that names the field and its rule. */
export function readWatchRequest(request: WatchRequest): WatchSelection {
  const { kinds, filters, samplePerSecond } = request;
  if (kinds.length > maxKinds) throw invalidArgument('kinds', `takes at most ${maxKinds}`);
  checkFilterCount(filters.length, 'filters');
  const named = filters.map((filter, index) => ({ filter, path: `filters[${index}]` }));
  checkFilters(named, 'filters', kinds, ({ operator }) => looksForPart(operator));
  if (samplePerSecond < 0 || samplePerSecond > maxSample) {
    throw invalidArgument('samplePerSecond', `must be from 1 to ${maxSample}`);
  }
  const stages = stagesOf(request);
  const kindsAsked = kindsOf(request);
  const predicates = named.map(({ filter, path }) => eventPredicate(filter, path));
  return {
    samplePerSecond: samplePerSecond === 0 ? defaultSample : samplePerSecond,
    shows: (stage) => stages.size === 0 || stages.has(stage),
    hasKind: (kind) => kindsAsked.size === 0 || kindsAsked.has(kind),
    hasFilters: predicates.length > 0,
    meetsFilters: (event) => predicates.every((meets) => meets(event)),
  };
}

function kindsOf({ kinds }: WatchRequest): ReadonlySet<string> {
  for (const [index, kind] of kinds.entries()) {
    if (kind === '') throw invalidArgument(`kinds[${index}]`, 'must not be empty');
    if (kind.length > maxKindCharacters) {
      throw invalidArgument(`kinds[${index}]`, `takes at most ${maxKindCharacters} characters`);
    }
  }
  return new Set(kinds);
}

function stagesOf({ stages }: WatchRequest): ReadonlySet<WatchStage> {
  for (const [index, stage] of stages.entries()) {
    const field = `stages[${index}]`;
    if (stage === WatchStage.UNSPECIFIED) throw invalidArgument(field, 'must name a stage');
    // JSON and binary requests both can hold a number that no stage has.
    if (WatchStage[stage] === undefined) throw invalidArgument(field, `${stage} is not a stage`);
  }
  return new Set(stages);
}
