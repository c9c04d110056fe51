// A tally as the service keeps it for the page: bounded, however many kinds, rules and files there were.

import { create } from '@bufbuild/protobuf';
import {
  type ImportMonth,
  ImportMonthSchema,
  type ImportReport,
  ImportReportSchema,
} from '../proto/gen/dashboard/imports/v1/imports_pb.js';
import type { HistoryFamily } from './families/history-family.ts';
import type { Tally } from './tally.ts';

const shownKinds = 20;
const maxRefusals = 100;
const maxNotes = 20;

export function reportOf(tally: Tally, family: HistoryFamily): ImportReport {
  const { count: people, isAtLeast } = tally.people;
  const leftOut = [...tally.leftOut.values()].toSorted((one, other) => other.count - one.count);
  const refusals = leftOut.slice(0, maxRefusals).map(({ why, isKept, count, first }) => {
    return { why, isKept, count: BigInt(count), first };
  });
  const broken = tally.brokenOff.map((name) => `${name} may not be whole: its last row is damaged`);
  return create(ImportReportSchema, {
    rows: BigInt(tally.rows),
    events: BigInt(tally.events),
    people: BigInt(people),
    hasMorePeople: isAtLeast,
    months: monthsOf(tally),
    refusals,
    notes: [...(family.notes?.() ?? []), ...broken].slice(0, maxNotes),
    sent: BigInt(tally.sent),
    stored: BigInt(tally.stored),
    identityCalls: BigInt(tally.calls),
  });
}

function monthsOf({ months }: Tally): ImportMonth[] {
  const totals = new Map<string, number>();
  for (const kinds of months.values()) {
    for (const [kind, events] of kinds) totals.set(kind, (totals.get(kind) ?? 0) + events);
  }
  const most = [...totals].toSorted(([, one], [, other]) => other - one).slice(0, shownKinds);
  const shown = new Set(most.map(([kind]) => kind));
  return [...months]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([month, kinds]) => {
      const named = [...kinds].filter(([kind]) => shown.has(kind));
      const rest = [...kinds].filter(([kind]) => !shown.has(kind));
      const others = rest.reduce((sum, [, events]) => sum + events, 0);
      const sorted = named.toSorted(([, one], [, other]) => other - one);
      if (others > 0) sorted.push(['', others]);
      return create(ImportMonthSchema, {
        month,
        kinds: sorted.map(([kind, events]) => ({ kind, events: BigInt(events) })),
      });
    });
}
