// The plainest reading of a FUNNEL (docs/insights.md), over events in memory: each entry is followed alone, event by
// event.

export interface FunnelEvent {
  eventId: string;
  kind: string;
  /** Undefined where the event has no user. */
  user: string | undefined;
  occurTimeMs: number;
  /** The value to split by; empty where it is lacking. */
  group: string;
  /** The value of the property that is held; undefined where it is lacking. */
  held: string | undefined;
}

type Matches = (event: FunnelEvent) => boolean;

export interface PlainFunnel {
  /** All that were received by the moment of the question. */
  events: readonly FunnelEvent[];
  fromMs: number;
  toMs: number;
  /** When the buckets begin, ascending. */
  buckets: readonly number[];
  steps: readonly Matches[];
  windowMs: number;
  order: 'ordered' | 'any' | 'strict';
  exclusions: readonly { matches: Matches; fromStep: number; toStep: number }[];
  isHeld: boolean;
  isFirstOnly: boolean;
  /** Entries from there on may still convert. */
  openFromMs: number;
}

interface Entry {
  atMs: number;
  level: number;
}

export interface FunnelUser {
  /** Of their first entry. */
  group: string;
  entries: Entry[];
  /** The times of the events with which they reached their furthest step. */
  chain: number[];
}

/** Those who have an entry. */
export function plainFunnelUsers(funnel: PlainFunnel): FunnelUser[] {
  const { events, fromMs, toMs, windowMs, isHeld } = funnel;
  const users = new Map<string, FunnelEvent[]>();
  for (const event of events) {
    const isNear = event.occurTimeMs >= fromMs && event.occurTimeMs < toMs + windowMs;
    if (event.user === undefined || !isNear || (isHeld && event.held === undefined)) continue;
    users.set(event.user, [...(users.get(event.user) ?? []), event]);
  }
  return [...users.values()].flatMap((own) => {
    const values = isHeld ? [...new Set(own.map(({ held }) => held))] : [undefined];
    const attempts = values.map((value) =>
      attemptOf(funnel, isHeld ? own.filter(({ held }) => held === value) : own),
    );
    const entries = attempts.flatMap((attempt) => attempt.entries);
    if (entries.length === 0) return [];
    const [first] = own.filter((event) => isEntry(funnel, event)).sort(byTime);
    const best = attempts.map(({ chain }) => chain).sort(fasterFirst);
    return [{ group: first?.group ?? '', entries, chain: best[0] ?? [] }];
  });
}

/** Users of each step, and those who may still go on. */
export function reachedBy(funnel: PlainFunnel, users: readonly (readonly Entry[])[]) {
  const last = funnel.steps.length;
  const levels = users.map((entries) => Math.max(0, ...entries.map(({ level }) => level)));
  const isOpen = users.map((entries) => entries.some(({ atMs }) => atMs >= funnel.openFromMs));
  return {
    totals: funnel.steps.map((_, step) => levels.filter((level) => level > step).length),
    open: levels.filter((level, user) => level < last && isOpen[user]).length,
  };
}

function byTime(one: FunnelEvent, other: FunnelEvent): number {
  if (one.occurTimeMs !== other.occurTimeMs) return one.occurTimeMs - other.occurTimeMs;
  return one.eventId < other.eventId ? -1 : 1;
}

/** The furthest, then the one that ends first, then the one whose steps before are later, from the last one back. */
function fasterFirst(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return other.length - one.length;
  const ends = (one.at(-1) ?? 0) - (other.at(-1) ?? 0);
  if (ends !== 0) return ends;
  const place = one.findLastIndex((time, at) => time !== other[at]);
  return (other[place] ?? 0) - (one[place] ?? 0);
}

function isEntry({ order, steps, toMs }: PlainFunnel, event: FunnelEvent): boolean {
  if (event.occurTimeMs >= toMs) return false;
  return order === 'any' ? steps.some((step) => step(event)) : steps[0]?.(event) === true;
}

/** The events of one user, and one value of what is held. */
function attemptOf(funnel: PlainFunnel, own: readonly FunnelEvent[]) {
  const { steps, exclusions, order, windowMs, toMs, isFirstOnly } = funnel;
  // What comes after the range is no first step.
  const isStep = (event: FunnelEvent, step: number): boolean =>
    steps[step]?.(event) === true && (order === 'any' || step > 0 || event.occurTimeMs < toMs);
  const rank = (event: FunnelEvent): number => {
    const step = steps.findIndex((_, index) => isStep(event, index));
    if (step >= 0) return step;
    return exclusions.some(({ matches }) => matches(event)) ? steps.length : steps.length + 1;
  };
  const events = own
    .filter((event) => order === 'strict' || rank(event) <= steps.length)
    .sort((one, other) =>
      one.occurTimeMs === other.occurTimeMs && rank(one) !== rank(other)
        ? rank(one) - rank(other)
        : byTime(one, other),
    );
  const at = (place: number): number => events[place]?.occurTimeMs ?? 0;
  const ends = (place: number, step: number): boolean =>
    exclusions.some(
      ({ matches, fromStep, toStep }) =>
        step >= fromStep && step < toStep && events[place] !== undefined && matches(events[place]),
    );
  const entries = events.flatMap((event, place) => (isEntry(funnel, event) ? [place] : []));
  const followed = (isFirstOnly ? entries.slice(0, 1) : entries).map((entry) => {
    const chains = order === 'any' ? anyOrder(entry) : inOrder(entry);
    const longest = Math.max(...chains.map((chain) => chain.length));
    const best = chains.filter((chain) => chain.length === longest).sort(fasterFirst);
    return { atMs: at(entry), level: longest, chain: best[0] ?? [] };
  });
  const chains = followed.map(({ chain }) => chain).sort(fasterFirst);
  return { entries: followed, chain: chains[0] ?? [] };

  /** The times of every chain from the entry, as far as each goes. */
  function inOrder(entry: number): number[][] {
    const go = (chain: number[]): number[][] => {
      const [last = 0, step] = [chain.at(-1), chain.length];
      const next: number[] = [];
      for (let place = last + 1; place < events.length; place += 1) {
        const event = events[place];
        if (event && isStep(event, step) && at(place) - at(entry) <= windowMs) next.push(place);
        if (order === 'strict' || ends(place, step)) break;
      }
      return next.length === 0 ? [chain] : next.flatMap((place) => go([...chain, place]));
    };
    return go([entry]).map((chain) => chain.map(at));
  }

  /** The times at which each step was first done. */
  function anyOrder(entry: number): number[][] {
    const times = new Map<number, number>();
    for (let place = entry; place < events.length; place += 1) {
      if (at(place) - at(entry) > windowMs) break;
      for (const step of steps.keys()) {
        const event = events[place];
        if (event && steps[step]?.(event) && !times.has(step)) times.set(step, at(place));
      }
      if (place > entry && ends(place, 1)) break;
    }
    return [[...times.values()].sort((one, other) => one - other)];
  }
}
