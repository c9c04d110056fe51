// The boards, the forms of questions and the places outside the navigation that the palette leads to.

import { createClient } from '@connectrpc/connect';
import {
  DashboardsService,
  type ListResponse,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { inProject, transport } from '../client.ts';

export { forms } from '../question/forms.ts';

const boards = createClient(DashboardsService, transport);

/** The boards of a project; throws the service's errors. */
export function boardsOf(projectId: string, end: AbortSignal): Promise<ListResponse> {
  return boards.list({}, inProject(projectId, end));
}

type FurtherPlace = { group: string; name: string; says: string; href: string };

/**
 * Where a newcomer looks by the words of other products. `says` has those words; it is searched and not shown.
 */
export function furtherPlaces(projectId: string, orgId: string): FurtherPlace[] {
  const project = `/p/${projectId}`;
  const ofProject = 'Project settings';
  const ofOrg = 'Organization';
  return [
    {
      group: 'Overview',
      name: 'Goals',
      says: 'new goal conversions conversion rate',
      href: project,
    },
    {
      group: 'Setup',
      name: 'Script, consent and SDKs',
      says: 'install snippet tracking code tag cookie cookieless privacy gdpr',
      href: `${project}/setup`,
    },
    {
      group: ofProject,
      name: 'Import history',
      says: 'upload migrate posthog mixpanel amplitude segment umami matomo file csv json',
      href: `${project}/settings/import`,
    },
    {
      group: ofProject,
      name: 'Exports',
      says: 'download schedule bucket s3 csv parquet json',
      href: `${project}/exports`,
    },
    {
      group: ofProject,
      name: 'How long events are kept, exclusions, origins',
      says: 'privacy gdpr data retention block exclude ip addresses internal traffic domains cors',
      href: `${project}/settings`,
    },
    {
      group: ofProject,
      name: 'Keys',
      says: 'api key token public private',
      href: `${project}/settings`,
    },
    {
      group: ofProject,
      name: 'Annotations, time zone, currency',
      says: 'timezone week delete the project',
      href: `${project}/settings`,
    },
    {
      group: ofOrg,
      name: 'Members and invitations',
      says: 'invite team people roles permissions mail smtp',
      href: `/o/${orgId}/settings`,
    },
    {
      group: 'Account',
      name: 'Your account',
      says: 'password profile second factor 2fa theme sign out',
      href: '/account',
    },
    { group: 'Projects', name: 'New project', says: 'create add site website', href: '/?all&new' },
  ];
}
