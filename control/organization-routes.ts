// The methods of organizations and projects, each with the function that answers it, and the person or project it acts
// for. routes.ts says how a new one is added.

import type { ConnectRouter } from '@connectrpc/connect';
import { customerOf, principalOf } from '../platform/access/auth-interceptor.ts';
import { membershipOf } from '../platform/access/organization-interceptor.ts';
import { OrgEmailProvidersService } from '../proto/gen/dashboard/orgemailproviders/v1/org_email_providers_pb.js';
import { OrgsService } from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ProjectsService } from '../proto/gen/dashboard/projects/v1/projects_pb.js';
import { deleteOrganization } from './deletions/delete-organization.ts';
import { deleteProject, listDeletions } from './deletions/delete-project.ts';
import type { DeletionDeps } from './deletions/deletion-deps.ts';
import {
  deleteEmailProvider,
  type EmailProviderDeps,
  getEmailProvider,
  sendTest,
  upsertEmailProvider,
} from './mail/email-provider.ts';
import { type AcceptInviteDeps, acceptInvite } from './orgs/accept-invite.ts';
import {
  type InvitationDeps,
  inviteMember,
  listInvitations,
  resendInvite,
  revokeInvite,
} from './orgs/invitations.ts';
import {
  leave,
  listMembers,
  type MembersDeps,
  removeMember,
  updateMemberProjects,
  updateMemberRole,
} from './orgs/members.ts';
import { createOrgKey, listOrgKeys, type OrgKeysDeps, revokeOrgKey } from './orgs/org-keys.ts';
import { createOrg, getOrg, listOrgs, type OrgDeps, updateOrg } from './orgs/org-rpc.ts';
import {
  createApiKeyRpc,
  createProjectRpc,
  getProject,
  listApiKeys,
  listProjects,
  type ProjectDeps,
  revokeApiKeyRpc,
  updateProject,
} from './projects/project-rpc.ts';

export type OrganizationDeps = OrgDeps &
  MembersDeps &
  OrgKeysDeps &
  InvitationDeps &
  AcceptInviteDeps &
  ProjectDeps &
  DeletionDeps &
  EmailProviderDeps;

/** Registers OrgsService and OrgEmailProvidersService. */
export function registerOrganizations(router: ConnectRouter, deps: OrganizationDeps): void {
  router.service(OrgsService, {
    create: (request, context) => createOrg(deps, request, customerOf(context)),
    get: (_, context) => getOrg(deps, membershipOf(context)),
    list: (_, context) => listOrgs(deps, customerOf(context)),
    update: (request, context) => updateOrg(deps, request, membershipOf(context)),
    inviteMember: (request, context) => inviteMember(deps, request, membershipOf(context)),
    listMembers: (_, context) => listMembers(deps, membershipOf(context)),
    removeMember: (request, context) => removeMember(deps, request, membershipOf(context)),
    updateMemberRole: (request, context) => updateMemberRole(deps, request, membershipOf(context)),
    updateMemberProjects: (request, context) =>
      updateMemberProjects(deps, request, membershipOf(context)),
    listInvitations: (_, context) => listInvitations(deps, membershipOf(context)),
    resendInvite: (request, context) => resendInvite(deps, request, membershipOf(context)),
    revokeInvite: (request, context) => revokeInvite(deps, request, membershipOf(context)),
    acceptInvite: (request, context) => acceptInvite(deps, request, customerOf(context)),
    leave: (_, context) => leave(deps, membershipOf(context)),
    createOrgKey: (request, context) => createOrgKey(deps, request, membershipOf(context)),
    listOrgKeys: (_, context) => listOrgKeys(deps, membershipOf(context)),
    revokeOrgKey: (request, context) => revokeOrgKey(deps, request, membershipOf(context)),
    delete: (request, context) => deleteOrganization(deps, request, membershipOf(context)),
  });
  router.service(OrgEmailProvidersService, {
    get: (_, context) => getEmailProvider(deps, membershipOf(context)),
    upsert: (request, context) =>
      upsertEmailProvider(deps, request, membershipOf(context), context),
    delete: (_, context) => deleteEmailProvider(deps, membershipOf(context)),
    sendTest: (_, context) => sendTest(deps, membershipOf(context)),
  });
}

/** Registers ProjectsService. */
export function registerProjects(router: ConnectRouter, deps: OrganizationDeps): void {
  router.service(ProjectsService, {
    create: (request, context) => createProjectRpc(deps, request, membershipOf(context)),
    get: (request, context) => getProject(deps, request, principalOf(context)),
    list: (request, context) => listProjects(deps, request, customerOf(context)),
    update: (request, context) => updateProject(deps, request, principalOf(context)),
    createApiKey: (request, context) => {
      const { projectId } = principalOf(context);
      return createApiKeyRpc(deps, request, { ...customerOf(context), projectId });
    },
    listApiKeys: (_, context) => listApiKeys(deps, principalOf(context)),
    revokeApiKey: (request, context) => revokeApiKeyRpc(deps, request, principalOf(context)),
    delete: (request, context) => deleteProject(deps, request, membershipOf(context)),
    listDeletions: (_, context) => listDeletions(deps, membershipOf(context)),
  });
}
