// The plainest reading of what RETENTION, LIFECYCLE and STICKINESS count (docs/insights.md), over events in memory.

export interface PlainEvent {
  eventId: string;
  kind: string;
  /** Undefined where the event has no user. */
  user: string | undefined;
  occurTimeMs: number;
  /** The value to split by; empty where it is lacking. */
  group: string;
}

export interface PlainQuestion {
  /** All that were received by the moment of the question. */
  events: readonly PlainEvent[];
  fromMs: number;
  toMs: number;
  /** When the buckets begin, ascending. */
  buckets: readonly number[];
  /** When the bucket before them begins. */
  beforeMs: number;
  /** Whether an event is one of the question's, by its place there. */
  matches: readonly ((event: PlainEvent) => boolean)[];
  /** Groups that stay; undefined for a question without a breakdown. */
  groupLimit: number | undefined;
}

function inOrder(one: PlainEvent, other: PlainEvent): number {
  if (one.occurTimeMs !== other.occurTimeMs) return one.occurTimeMs - other.occurTimeMs;
  return one.eventId < other.eventId ? -1 : 1;
}

/** The events of each user, in order. */
function byUser(events: readonly PlainEvent[]): Map<string, PlainEvent[]> {
  const users = new Map<string, PlainEvent[]>();
  for (const event of events.toSorted(inOrder)) {
    if (event.user !== undefined) users.set(event.user, [...(users.get(event.user) ?? []), event]);
  }
  return users;
}

function inRange({ events, fromMs, toMs }: PlainQuestion): PlainEvent[] {
  return events.filter(({ occurTimeMs }) => occurTimeMs >= fromMs && occurTimeMs < toMs);
}

/** The place of the bucket of a moment; -1 for one before them. */
function placeOf(buckets: readonly number[], ms: number): number {
  return buckets.findLastIndex((startMs) => startMs <= ms);
}

export function plainStickiness(question: PlainQuestion): number[] {
  const counts = question.buckets.map(() => 0);
  const events = inRange(question).filter((event) => question.matches[0]?.(event));
  for (const own of byUser(events).values()) {
    const places = new Set(own.map(({ occurTimeMs }) => placeOf(question.buckets, occurTimeMs)));
    counts[places.size - 1] = (counts[places.size - 1] ?? 0) + 1;
  }
  return counts;
}

/** Of each bucket: new, returning, resurrecting, dormant. */
export function plainLifecycle(question: PlainQuestion): number[][] {
  const { buckets, beforeMs, events, fromMs, toMs } = question;
  const counts = buckets.map(() => [0, 0, 0, 0]);
  for (const own of byUser(events).values()) {
    const first = placeOf(buckets, own[0]?.occurTimeMs ?? 0);
    const active = new Set(
      own
        .filter((event) => question.matches[0]?.(event))
        .map(({ occurTimeMs: ms }) => ms)
        .filter((ms) => (ms >= beforeMs && ms < (buckets[0] ?? 0)) || (ms >= fromMs && ms < toMs))
        .map((ms) => placeOf(buckets, ms)),
    );
    for (const [place, count] of counts.entries()) {
      const before = active.has(place - 1);
      const state = active.has(place) ? (first === place ? 0 : before ? 1 : 2) : before ? 3 : 4;
      count[state] = (count[state] ?? 0) + 1;
    }
  }
  return counts.map((count) => count.slice(0, 4));
}

/** Users with the group that each belongs to, ranked: the values, then the users of each group. */
function ranked<User extends { group: string }>(
  { groupLimit }: PlainQuestion,
  users: readonly User[],
): { group: string; users: User[] }[] {
  if (groupLimit === undefined) return [{ group: 'all', users: [...users] }];
  const groups = [...new Set(users.map(({ group }) => group))]
    .map((group) => ({ group, users: users.filter((user) => user.group === group) }))
    .sort(
      (one, other) => other.users.length - one.users.length || (one.group < other.group ? -1 : 1),
    );
  const others = groups.slice(groupLimit).flatMap((group) => group.users);
  return [
    ...groups.slice(0, groupLimit),
    ...(others.length === 0 ? [] : [{ group: 'others', users: others }]),
  ];
}

/** Of each group: the size of each cohort, then its points. */
export function plainRetention(question: PlainQuestion) {
  const { buckets, matches } = question;
  const [starts, back = starts] = matches;
  const users = [...byUser(inRange(question)).values()].flatMap((own) => {
    const start = own.findIndex((event) => starts?.(event));
    const first = own[start];
    if (first === undefined) return [];
    const returns = own.slice(start).filter((event) => back?.(event));
    const places = new Set(returns.map(({ occurTimeMs }) => placeOf(buckets, occurTimeMs)));
    return [{ group: first.group, cohort: placeOf(buckets, first.occurTimeMs), places }];
  });
  return ranked(question, users).map((group) => ({
    group: group.group,
    cohorts: buckets.map((_, cohort) => {
      const members = group.users.filter((user) => user.cohort === cohort);
      const points = buckets.map(
        (__, place) => members.filter(({ places }) => places.has(place)).length,
      );
      return [members.length, ...points.slice(cohort)];
    }),
  }));
}
