// The visitor that the demo shows: of the first visits' members a customer who came most often, and all that is sent of
// that visitor until the end.

import type { SentVisitor } from './sending/readable.ts';
import type { Visit } from './visits/walk.ts';

const choosesFrom = 1_000;
const maxKeptIds = 1_000;

export interface ShownVisitor {
  /** Takes every visit once, in order. */
  see(visit: Visit): void;
  /** Undefined where there was no visit. */
  sent(): SentVisitor | undefined;
}

export function createShownVisitor(): ShownVisitor {
  let candidates: Visit[] = [];
  let shown: SentVisitor | undefined;
  const choose = (): void => {
    const byVisitor = new Map<string, Visit[]>();
    for (const visit of candidates) {
      const { distinctId } = visit.visitor;
      byVisitor.set(distinctId, [...(byVisitor.get(distinctId) ?? []), visit]);
    }
    const [first = []] = [...byVisitor.values()].sort(
      (one, other) => interest(other) - interest(one),
    );
    for (const visit of first) shown = withVisit(shown, visit);
    candidates = [];
  };
  return {
    see(visit) {
      if (shown === undefined) {
        candidates.push(visit);
        if (candidates.length === choosesFrom) choose();
      } else if (visit.visitor.distinctId === shown.distinctId) {
        shown = withVisit(shown, visit);
      }
    },
    sent() {
      if (shown === undefined) choose();
      return shown;
    },
  };
}

/** A purchase counts more than any number of visits, and a name more than a purchase. */
function interest(visits: readonly Visit[]): number {
  const bought = visits.some(({ server }) => server.some(({ kind }) => kind === 'purchase'));
  const isMember = visits.some(({ member }) => member !== undefined);
  return visits.length + (bought ? choosesFrom : 0) + (isMember ? 2 * choosesFrom : 0);
}

function withVisit(
  sent: SentVisitor | undefined,
  { visitor, browser, server, member }: Visit,
): SentVisitor {
  const ids = [...browser, ...server].map(({ eventId }) => eventId);
  const before = sent?.by.kind === 'ids' ? sent.by.ids : [];
  return {
    distinctId: visitor.distinctId,
    externalId: member?.externalId ?? sent?.externalId,
    events: (sent?.events ?? 0) + ids.length,
    by: { kind: 'ids', ids: [...before, ...ids].slice(-maxKeptIds) },
  };
}
