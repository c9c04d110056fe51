// The calls of profiles, and how a profile is named.

import { createClient } from '@connectrpc/connect';
import { type Profile, ProfilesService } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject, transport } from '../client.ts';
import { type Condition, toPropertyFilter } from '../filter/condition.ts';

export const profilesClient = createClient(ProfilesService, transport);

/** One page of profiles; the service streams it, the next token stands in its last part. */
export async function loadProfiles(
  projectId: string,
  conditions: readonly Condition[],
  pageToken: string,
  end: AbortSignal,
): Promise<{ rows: Profile[]; next: string }> {
  const filters = conditions.map(toPropertyFilter);
  const request = { pageToken, ...(filters.length > 0 ? { filterGroups: [{ filters }] } : {}) };
  const rows: Profile[] = [];
  let next = '';
  for await (const part of profilesClient.list(request, inProject(projectId, end))) {
    rows.push(...part.profiles);
    next = part.nextPageToken ?? '';
  }
  return { rows, next };
}

/** A trait that names a person, the id of the site, or the beginning of our own id. */
export function nameOf(profile: Profile): string {
  const traits = profile.properties ?? {};
  for (const key of ['name', 'displayName', 'display_name', 'email']) {
    const value = traits[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return profile.externalId || `Visitor ${profile.id.slice(0, 8)}`;
}

/** The place of the latest event: "Berlin, DE". */
export function placeOf(profile: Profile): string {
  const { city, region, country } = profile.activity ?? {};
  return [city || region, country].filter(Boolean).join(', ');
}

/** Browser and system of the latest event: "Firefox 140, Linux". */
export function deviceOf(profile: Profile): string {
  const { browser, browserVersion, os, device } = profile.activity ?? {};
  const version = browserVersion?.split('.')[0] ?? '';
  return [browser ? `${browser} ${version}`.trim() : '', os, device].filter(Boolean).join(', ');
}
