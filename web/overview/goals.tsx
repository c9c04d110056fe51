// The goals of the project on its overview, for the page's range and filters.

import type { Condition } from '../filter/condition.ts';
import { segmentsOfAddress } from '../filter/known-segments.ts';
import { boardTime } from '../question/board-time.ts';
import { address } from '../router.ts';
import { useRange } from '../time/range.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { groupsOf, questionKey } from './board.ts';

const loadGoals = async () => (await import('../goals/goals-card.tsx')).GoalsCard;

/** At the end of the page: its code comes last, and nothing below it moves. */
export function Goals(props: {
  projectId: string;
  conditions: readonly Condition[] | undefined;
  includeCookieless: boolean;
}) {
  const { projectId, conditions, includeCookieless } = props;
  const { query } = address.value;
  const range = useRange();
  const name = conditions && `${questionKey(projectId, conditions)} ${includeCookieless}`;
  const filters = { filterGroups: groupsOf(conditions ?? []), ...segmentsOfAddress() };
  const asked = { timeRange: boardTime(query, range), filters, includeCookieless };
  return <Loaded load={loadGoals} name="goals" with={{ projectId, name, asked }} />;
}
