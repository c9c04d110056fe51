// LIFECYCLE, STICKINESS and USER_FLOW: what users do again and again, and the ways that visits take.

import { figure } from '../../../platform/words/figures.ts';
import type {
  InsightQuerySpec,
  LifecycleResult,
  StickinessPoint,
  StickinessResult,
  UserFlowResult,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Answered, cellOf, incompleteNotes } from '../answered.ts';
import { bucketNames } from '../bucket-name.ts';
import { type ReportPart, tableOf, withBars } from '../report-part.ts';
import { lineInMail } from '../text-in-mail.ts';

/** Rows of a user flow in a mail: its greatest links. */
const maxWays = 10;
const maxNodeCharacters = 40;

export function partOfLifecycle({ title, result, labels }: Answered<LifecycleResult>): ReportPart {
  const { newUsers, returningUsers, resurrectingUsers, dormantUsers, incompleteFrom } = result;
  const columns = [newUsers, returningUsers, resurrectingUsers, dormantUsers];
  const rows = bucketNames(labels).map((name, index) => ({
    name,
    cells: columns.map((points) => cellOf(figure, points[index]?.value)),
  }));
  const heads = ['New', 'Returning', 'Back again', 'Gone'];
  return tableOf(title, heads, rows, incompleteNotes(incompleteFrom));
}

/** "Active 3 times", "3 to 5 events", "6 or more events". */
function stickinessName({ cumulative }: InsightQuerySpec, point: StickinessPoint): string {
  const { buckets, events, eventsTo } = point;
  const more = cumulative ? ' or more' : '';
  if (events === 0) return `Active ${buckets}${more} ${buckets === 1 && !more ? 'time' : 'times'}`;
  if (eventsTo === undefined) return `${figure(events)} or more events`;
  if (eventsTo === events) return `${figure(events)} ${events === 1 ? 'event' : 'events'}`;
  return `${figure(events)} to ${figure(eventsTo)} events`;
}

export function partOfStickiness({ title, spec, result }: Answered<StickinessResult>): ReportPart {
  const rows = result.points.map((point) => ({
    name: stickinessName(spec, point),
    ...{ cells: [cellOf(figure, point.value)], value: point.value },
  }));
  return tableOf(title, ['Users'], withBars(rows), incompleteNotes(result.incompleteFrom));
}

export function partOfUserFlow({ title, result }: Answered<UserFlowResult>): ReportPart {
  const links = result.links.toSorted((a, b) => Number((b.value ?? 0n) - (a.value ?? 0n)));
  const rows = links.slice(0, maxWays).map(({ source, target, value }) => ({
    name: `${nodeName(source)} → ${nodeName(target)}`,
    ...{ cells: [cellOf(figure, Number(value ?? 0n))], value: Number(value ?? 0n) },
  }));
  const more = links.length - rows.length;
  return tableOf(
    title,
    ['Visits'],
    withBars(rows),
    more > 0 ? [`${more} more ways are on the board.`] : [],
  );
}

/** "2. Purchase" of "1:purchase". */
function nodeName(id: string): string {
  const colon = id.indexOf(':');
  const value = id.slice(colon + 1) || '(empty)';
  const name = id.endsWith('!others') ? 'all others' : lineInMail(value, maxNodeCharacters);
  return `${Number.parseInt(id, 10) + 1}. ${name}`;
}
