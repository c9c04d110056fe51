// ProfilesService.GetDataSubject: streams what is held of a person, a list after the other, and the totals last. What
// erasure/ erases is what this answers, but for sums and for copies.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { NatsConnection } from '../../../platform/broker/nats.ts';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type ActivityEvent,
  ListRequestSchema,
} from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import {
  type GetDataSubjectRequest,
  type GetDataSubjectResponse,
  GetDataSubjectResponseSchema,
  HeldTotalsSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { readSelection, sealOf } from '../../activity/activity-selection.ts';
import { readEventPage } from '../../activity/event-page.ts';
import type { Deadline } from '../../deadline.ts';
import type { CompleteUntil } from '../../insights/run/complete-until.ts';
import type { JsonStandIns } from '../../json-codec.ts';
import { readHeldAttempts } from './held-attempts.ts';
import { checkSubject, readHeldIds, readRoot } from './held-ids.ts';
import { readHeldLetters } from './held-letters.ts';

export interface DataSubjectOptions {
  clickhouse: RowReader;
  /** The group of the store that has the log of webhooks. */
  attempts: RowReader;
  nats: Pick<NatsConnection, 'jetstreamManager'>;
  clock: Clock;
  completeUntilMs: CompleteUntil;
  /** Limits each read of a page, not the whole stream. */
  startDeadline: () => Deadline;
}

const eventsOfMessage = 1_000;

/** Throws invalid_argument for a request that breaks a rule, and the engines' errors. */
export async function* getDataSubject(
  options: DataSubjectOptions,
  projectId: string,
  request: GetDataSubjectRequest,
  standIns: JsonStandIns | undefined,
): AsyncGenerator<GetDataSubjectResponse> {
  checkSubject(request);
  const { clickhouse, attempts, nats, completeUntilMs, startDeadline } = options;
  // Before the first read: whatever was accepted before this moment is among what they find.
  const completeMs = await completeUntilMs(projectId);
  const root = await readRoot(clickhouse, projectId, request, startDeadline());
  const texts = new Set(request.externalId === '' ? [] : [request.externalId]);
  const totals = create(HeldTotalsSchema, {
    ...{ ids: 0n, events: 0n, deadLetters: 0n, attempts: 0n },
    ...(completeMs !== undefined && { completeUntil: timestampFromMs(completeMs) }),
  });
  const count = (name: 'ids' | 'events' | 'deadLetters' | 'attempts', more: number): void => {
    totals[name] = (totals[name] ?? 0n) + BigInt(more);
  };
  for await (const ids of readHeldIds(clickhouse, projectId, root, startDeadline, standIns)) {
    for (const { distinctId } of ids) texts.add(distinctId);
    count('ids', ids.length);
    yield partOf({ ids });
  }
  for await (const events of readEvents(options, projectId, root, standIns)) {
    for (const { distinctId } of events) texts.add(distinctId);
    count('events', events.length);
    yield partOf({ events });
  }
  const named = [...texts];
  for await (const deadLetters of readHeldLetters(nats, projectId, named)) {
    count('deadLetters', deadLetters.length);
    yield partOf({ deadLetters });
  }
  for await (const some of readHeldAttempts(attempts, projectId, named, startDeadline)) {
    count('attempts', some.length);
    yield partOf({ attempts: some });
  }
  yield partOf({ totals });
}

/** Fields are set, not copied: create would go through each value of each event. */
function partOf(
  part: Partial<
    Pick<GetDataSubjectResponse, 'ids' | 'events' | 'deadLetters' | 'attempts' | 'totals'>
  >,
): GetDataSubjectResponse {
  return Object.assign(create(GetDataSubjectResponseSchema), part);
}

async function* readEvents(
  options: DataSubjectOptions,
  projectId: string,
  profileId: string,
  standIns: JsonStandIns | undefined,
): AsyncGenerator<ActivityEvent[]> {
  const request = create(ListRequestSchema, { profileId, pageSize: eventsOfMessage });
  const seal = sealOf(ListRequestSchema, projectId, request);
  for (let pageToken = ''; ; ) {
    const asked = { ...request, pageToken, events: [], filtersField: 'filters' };
    const selection = readSelection(projectId, asked, seal);
    const page = await readEventPage(options, selection, options.startDeadline(), standIns);
    for (const event of page.events) event.profileId = profileId;
    if (page.events.length > 0) yield page.events;
    if (page.nextPageToken === '') return;
    pageToken = page.nextPageToken;
  }
}
