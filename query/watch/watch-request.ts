// Checks ActivityService.Watch's request and turns it into what a viewer asks: which events, which stages, how many.

import {
  checkFilterCount,
  checkFilters,
  checkKinds,
  looksForPart,
} from '../../platform/filters/filter-bounds.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import type {
  ActivityEvent,
  WatchRequest,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { WatchStage } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { eventPredicate } from '../filters/event-predicate.ts';

/** Events a second that are shown: without a number, and at most. */
const defaultSample = 50;
const maxSample = 1_000;

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
  checkKinds(kinds);
  checkFilterCount(filters.length, 'filters');
  const named = filters.map((filter, index) => ({ filter, path: `filters[${index}]` }));
  checkFilters(named, 'filters', kinds, ({ operator }) => looksForPart(operator));
  if (samplePerSecond < 0 || samplePerSecond > maxSample) {
    throw invalidArgument('samplePerSecond', `must be from 1 to ${maxSample}`);
  }
  const stages = stagesOf(request);
  const kindsAsked: ReadonlySet<string> = new Set(kinds);
  const predicates = named.map(({ filter, path }) => eventPredicate(filter, path));
  return {
    samplePerSecond: samplePerSecond === 0 ? defaultSample : samplePerSecond,
    shows: (stage) => stages.size === 0 || stages.has(stage),
    hasKind: (kind) => kindsAsked.size === 0 || kindsAsked.has(kind),
    hasFilters: predicates.length > 0,
    meetsFilters: (event) => predicates.every((meets) => meets(event)),
  };
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
