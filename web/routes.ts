// Every address of the app: its pattern, its name, its page. A page is loaded when it is first opened.

import type { ComponentType } from 'preact';
import { match, type PageProps } from './router.ts';

/** `open`: without an account. `bare`: without the shell around it. */
export type Route = {
  pattern: string;
  title: string;
  load: () => Promise<{ Page: ComponentType<PageProps> }>;
  access: 'open' | 'signed-in';
  frame: 'bare' | 'shell';
};

const open = (pattern: string, title: string, load: Route['load']): Route => ({
  pattern,
  title,
  load,
  access: 'open',
  frame: 'bare',
});

const inside = (pattern: string, title: string, load: Route['load']): Route => ({
  pattern,
  title,
  load,
  access: 'signed-in',
  frame: 'shell',
});

export const routes: Route[] = [
  open('/sign-in', 'Sign in', () => import('./account/sign-in-page.tsx')),
  open('/sign-in/code', 'Second step', () => import('./account/second-step-page.tsx')),
  open('/sign-up', 'Create an account', () => import('./account/sign-up-page.tsx')),
  open('/open', 'Open the demo', () => import('./account/open-page.tsx')),
  open('/oauth', 'Signing in', () => import('./account/oauth-page.tsx')),
  open('/invitation', 'Invitation', () => import('./account/invitation-page.tsx')),
  inside('/', 'Projects', () => import('./projects/projects-page.tsx')),
  inside('/p/:project', 'Overview', () => import('./overview/overview-page.tsx')),
  inside('/p/:project/live', 'Live', () => import('./live/live-page.tsx')),
  inside('/p/:project/events', 'Events', () => import('./events/events-page.tsx')),
  inside('/p/:project/visits', 'Visits', () => import('./visits/visits-page.tsx')),
  inside('/p/:project/profiles', 'Users', () => import('./profiles/profiles-page.tsx')),
  inside('/p/:project/profiles/:profile', 'User', () => import('./profiles/profile-page.tsx')),
  inside('/p/:project/exports', 'Exports', () => import('./exports/exports-page.tsx')),
  inside('/p/:project/segments', 'Segments', () => import('./segments/segments-page.tsx')),
  inside('/p/:project/segments/:segment', 'Segment', () => import('./segments/segment-page.tsx')),
  inside('/p/:project/insights/:type', 'Insights', () => import('./insights/insights-page.tsx')),
  inside('/p/:project/questions', 'Saved insights', () => import('./questions/questions-page.tsx')),
  inside('/p/:project/sql', 'SQL', () => import('./sql/sql-page.tsx')),
  inside('/p/:project/boards', 'Boards', () => import('./boards/boards-page.tsx')),
  inside('/p/:project/boards/:board', 'Board', () => import('./boards/board-page.tsx')),
  open('/s/:token', 'Shared board', () => import('./boards/shared-page.tsx')),
  inside('/p/:project/alerts', 'Alerts', () => import('./alerts/alerts-page.tsx')),
  inside('/p/:project/alerts/:alert', 'Alert', () => import('./alerts/alert-page.tsx')),
  inside('/p/:project/reports', 'Reports', () => import('./reports/reports-page.tsx')),
  inside('/p/:project/reports/:report', 'Report', () => import('./reports/report-page.tsx')),
  open('/r/:recipient', 'Report by mail', () => import('./reports/mailed-page.tsx')),
  inside('/p/:project/webhooks', 'Webhooks', () => import('./webhooks/webhooks-page.tsx')),
  inside('/p/:project/webhooks/:webhook', 'Webhook', () => import('./webhooks/webhook-page.tsx')),
  inside('/p/:project/setup', 'Setup', () => import('./setup/setup-page.tsx')),
  inside('/p/:project/settings', 'Settings', () => import('./settings/project-page.tsx')),
  inside('/p/:project/settings/import', 'Import', () => import('./imports/import-page.tsx')),
  inside('/o/:org/settings', 'Organization', () => import('./settings/org-page.tsx')),
  inside('/account', 'Account', () => import('./settings/account-page.tsx')),
  inside('/operator', 'Operator', () => import('./operator/operator-page.tsx')),
];

/** The route of a path with its parameters; undefined where there is none. */
export function routeOf(
  path: string,
): { route: Route; params: Record<string, string> } | undefined {
  for (const route of routes) {
    const params = match(route.pattern, path.length > 1 ? path.replace(/\/$/, '') : path);
    if (params) return { route, params };
  }
  return undefined;
}
