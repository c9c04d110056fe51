// The pages that `npm run shots` takes pictures of, and the addresses at which a demo has nothing to show.

import { dayMs } from '../../../platform/clock.ts';
import { questionForms } from '../../../test/harness/web/question-forms.ts';

/** Without an account. */
export const openPages: Record<string, string> = { 'sign-in': '/sign-in', 'sign-up': '/sign-up' };

/**
 * By the page: what opens over it, each with the name of its button. Escape closes it. One that is not in sight is left
 * out, such as the navigation of a phone.
 */
export const openings: Record<string, Record<string, string | RegExp>> = {
  projects: { new: 'New project' },
  overview: {
    ...{ navigation: 'Navigation', you: 'You', project: /^Project/, palette: /^Search or jump/ },
    ...{ range: /^Time range/, filter: 'Filter', segment: 'Segment', goal: 'New goal' },
    ...{ sources: /: more to rank$/, all: 'View all', annotations: 'Annotations' },
  },
  events: { columns: 'Columns', export: 'Export', kind: 'Any event' },
  exports: { new: 'New export', schedule: 'New schedule' },
  trends: { copy: 'Copy insight', save: 'Save to a board', question: 'Change insight' },
  boards: { new: 'New board', more: /^More/ },
  board: { share: 'Share', copy: 'Edit a copy' },
  alerts: { new: 'New alert' },
  reports: { new: 'New report' },
  webhooks: { new: 'New webhook' },
  settings: { key: 'New key' },
  organization: { invite: 'Invite' },
  account: { factor: 'Set up a second factor' },
};

/** Lists whose first row is opened too: the page of a person or an alert, the drawer of a visit or an event. */
export const lists: readonly string[] = [
  'segments',
  'profiles',
  'visits',
  'events',
  'alerts',
  'reports',
  'webhooks',
];

/** Patterns of web/routes.ts that show nothing without a token of somebody else. */
export const notShown: readonly string[] = [
  ...['/open', '/oauth', '/invitation', '/s/:token', '/r/:recipient', '/sign-in/code'],
];

/** By the name of the picture: the addresses of a signed-in account. */
export function pagesOf(demo: {
  projectId: string;
  organizationId: string;
}): Record<string, string> {
  const project = `/p/${demo.projectId}`;
  const days = lastWholeWeeks(4);
  return {
    projects: '/?all',
    overview: `${project}?${days}`,
    live: `${project}/live`,
    events: `${project}/events`,
    visits: `${project}/visits`,
    profiles: `${project}/profiles`,
    exports: `${project}/exports`,
    segments: `${project}/segments`,
    'segment-new': `${project}/segments/new`,
    ...Object.fromEntries(
      questionForms.map((form) => [form, `${project}/insights/${form}?${days}`]),
    ),
    questions: `${project}/questions`,
    sql: `${project}/sql`,
    boards: `${project}/boards`,
    board: `${project}/boards/overview?${days}`,
    alerts: `${project}/alerts`,
    reports: `${project}/reports`,
    webhooks: `${project}/webhooks`,
    setup: `${project}/setup`,
    settings: `${project}/settings`,
    import: `${project}/settings/import`,
    organization: `/o/${demo.organizationId}/settings`,
    account: '/account',
    operator: '/operator',
  };
}

/** Today is unfinished, and would end each course in a fall; whole weeks lie above those before. */
function lastWholeWeeks(weeks: number): string {
  const todayMs = Date.parse(new Date().toISOString().slice(0, 10));
  const [from, to] = [7 * weeks, 1].map((ago) => new Date(todayMs - ago * dayMs).toISOString());
  return `from=${from?.slice(0, 10)}&to=${to?.slice(0, 10)}`;
}
