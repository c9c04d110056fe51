// The days of a week, numbered from Monday as 1, in the order of the project's weeks.

import { currentProject } from '../workspace.ts';

export const weekdayNames = [
  ...['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
];

/** The day that weeks of the current project begin on, 1 to 7. */
export function currentWeekStart(): number {
  return currentProject.value?.weekStart || 1;
}

/** Choices of a day: `first` comes first. */
export function weekdayOptions(first = 1): { value: string; name: string }[] {
  const days = weekdayNames.map((name, index) => ({ value: String(index + 1), name }));
  return [...days.slice(first - 1), ...days.slice(0, first - 1)];
}
