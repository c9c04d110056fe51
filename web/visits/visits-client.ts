// The calls of visits, and how a visit is told.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Duration } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  ActivityService,
  type ListVisitsRequestSchema,
  type Visit,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { inProject, transport } from '../client.ts';
import { milliseconds } from '../ui/figures.ts';

export const activity = createClient(ActivityService, transport);

const pageSize = 100;

/** A page with rows, where any follow: among many bots the service may answer none and how far it came. */
export async function loadVisits(
  projectId: string,
  asked: MessageInitShape<typeof ListVisitsRequestSchema>,
  firstToken: string,
  end: AbortSignal,
): Promise<{ rows: Visit[]; next: string }> {
  let pageToken = firstToken;
  for (;;) {
    const page = await activity.listVisits(
      { ...asked, pageSize, pageToken },
      inProject(projectId, end),
    );
    pageToken = page.nextPageToken;
    if (page.visits.length > 0 || pageToken === '') return { rows: page.visits, next: pageToken };
  }
}

export function lengthMs({ duration }: Visit): number {
  return duration ? inMs(duration) : 0;
}

function inMs({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1000 + Math.round(nanos / 1e6);
}

/** A visit of one event has no length. */
export function lengthOf(visit: Visit): string {
  const ms = lengthMs(visit);
  return ms === 0 ? '–' : milliseconds(ms);
}

/** "Organic search, google.com". */
export function sourceOf({ channel, referrerDomain }: Visit): string {
  const named = channel.charAt(0).toUpperCase() + channel.slice(1);
  return [named, referrerDomain].filter(Boolean).join(', ');
}

/** "Berlin, DE". */
export function placeOf({ city, region, country }: Visit): string {
  return [city || region, country].filter(Boolean).join(', ');
}

/** "Firefox, Linux, desktop". */
export function deviceOf({ browser, os, deviceType }: Visit): string {
  return [browser, os, deviceType].filter(Boolean).join(', ');
}
