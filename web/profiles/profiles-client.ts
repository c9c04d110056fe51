// The calls of profiles, and how a profile is named.

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { type Profile, ProfilesService } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject, transport } from '../client.ts';
import { type Condition, toPropertyFilter } from '../filter/condition.ts';
import type { SegmentFilter } from '../filter/segment-names.ts';
import type { ProfileSort } from './profile-sort.ts';

export const profilesClient = createClient(ProfilesService, transport);

/** Whom a list has, how it is sorted, and whether it says what each is worth. */
interface ProfilesAsked extends SegmentFilter {
  conditions: readonly Condition[];
  /** The newest first unless given. */
  sort: ProfileSort | undefined;
  withWorth: boolean;
}

/** One page. The service would stream page after page: the first is taken. */
export async function loadProfiles(
  projectId: string,
  { conditions, sort, ...rest }: ProfilesAsked,
  pageToken: string,
  end: AbortSignal,
): Promise<{ rows: Profile[]; next: string }> {
  const filters = conditions.map(toPropertyFilter);
  const groups = filters.length > 0 ? { filterGroups: [{ filters }] } : {};
  const enough = new AbortController();
  const signal = AbortSignal.any([end, enough.signal]);
  try {
    const request = { pageToken, ...groups, ...rest, ...sort };
    for await (const part of profilesClient.list(request, inProject(projectId, signal)))
      return { rows: part.profiles, next: part.nextPageToken ?? '' };
  } finally {
    enough.abort();
  }
  return { rows: [], next: '' };
}

/** Whether there are more profiles, or payments, than the service reads. A limit of calls says when to ask again. */
export function isTooMuch(cause: unknown): boolean {
  const { code, metadata } = ConnectError.from(cause);
  if (code === Code.ResourceExhausted) return !metadata.has('retry-after');
  return code === Code.DeadlineExceeded;
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
