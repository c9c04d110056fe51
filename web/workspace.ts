// What the reader may open: organizations with the role in each, and their projects.

import { createClient } from '@connectrpc/connect';
import { computed, effect, signal } from '@preact/signals';
import { type Org, OrgsService, Role } from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { type Project, ProjectsService } from '../proto/gen/dashboard/projects/v1/projects_pb.js';
import { isReachable, transport } from './client.ts';
import { forgetAll } from './resource.ts';
import { Retries } from './retries/retries.ts';
import { address, match } from './router.ts';
import { session } from './session.ts';
import { learnClock } from './time/zone.ts';

export const orgsClient = createClient(OrgsService, transport);
export const projectsClient = createClient(ProjectsService, transport);

export type Workspace = { orgs: Org[]; projects: Project[] };

/** undefined until it is loaded. */
export const workspace = signal<Workspace | undefined>(undefined);
export const workspaceFault = signal<unknown>(undefined);

const retries = new Retries();

/** Loads it anew: after a sign-in, a new project, an accepted invitation, a changed name or role. */
export async function loadWorkspace(): Promise<void> {
  retries.renew();
  await ask();
}

/** A busy service is asked again when it said. */
async function ask(): Promise<void> {
  retries.cancel();
  try {
    // Asked at once: on a slow line one after the other is half a second more before the first figure.
    const [{ orgs }, { projects: byAge }] = await Promise.all([
      orgsClient.list({}),
      projectsClient.list({}),
    ]);
    const projects = orgs.flatMap(({ id }) => byAge.filter(({ orgId }) => orgId === id));
    for (const { timezone, clock } of projects) learnClock(timezone, clock);
    workspace.value = { orgs, projects };
    workspaceFault.value = undefined;
  } catch (cause) {
    workspaceFault.value = retries.planAfter(cause, () => void ask());
  }
}

const personId = computed(() => {
  const now = session.value;
  return now.state === 'signed-in' ? now.person.id : now.state;
});

let loadedFor = '';

effect(() => {
  const id = personId.value;
  if (id === 'unknown' || id === loadedFor) return;
  loadedFor = id;
  workspace.value = undefined;
  retries.cancel();
  forgetAll();
  if (id !== 'signed-out') void loadWorkspace();
});

// A list that failed while the service was away is asked for again by itself.
effect(() => {
  if (isReachable.value && workspaceFault.peek() !== undefined) void loadWorkspace();
});

/** The project that the address names; undefined elsewhere, while loading, and where it is not the reader's. */
export const currentProject = computed<Project | undefined>(() => {
  const [, first, id = ''] = address.value.path.split('/');
  if (first !== 'p') return undefined;
  return workspace.value?.projects.find((project) => project.id === id);
});

/** The organization of the address: its own page's, or the current project's. */
export const currentOrg = computed<Org | undefined>(() => {
  const ofPage = match('/o/:org/:page', address.value.path)?.['org'];
  const id = ofPage ?? currentProject.value?.orgId;
  return workspace.value?.orgs.find((org) => org.id === id);
});

export function projectsOf(orgId: string): Project[] {
  return workspace.value?.projects.filter((project) => project.orgId === orgId) ?? [];
}

/** Whether the reader's role in the current organization is at least this one. */
export function hasRole(role: Role): boolean {
  return (currentOrg.value?.role ?? Role.UNSPECIFIED) >= role;
}

export { Role };
