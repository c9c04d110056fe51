import { expect, it } from 'vitest';
import { overviewDashboard } from '../../platform/dashboards/overview-dashboard.ts';
import { checkQuestion } from './check-question.ts';

it('every question of the built-in dashboard can be answered', () => {
  const refused = overviewDashboard().tiles.flatMap(({ id, content }) => {
    if (content.case !== 'insight') return [];
    try {
      checkQuestion(content.value, undefined);
      return [];
    } catch (error) {
      return [`${id}: ${String(error)}`];
    }
  });
  expect(refused).toEqual([]);
});
