// What the real packages of other vendors put on the wire, as it was recorded: every event is queued once, under the
// right id, with the types that were sent. Skipped where the outside test data is absent.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeProject } from '../../control/projects/project-record.ts';
import { systemClock } from '../../platform/clock.ts';
import { compatFamilies } from '../../platform/compat/compat-families.ts';
import { type RecordedRequest, requestOf } from '../../test/harness/requests/recorded-sdk.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';
import { hasTestData, testData } from '../../test/harness/test-data.ts';

/** A moment after all recordings. */
const nowMs = Date.parse('2026-11-27T22:45:00Z');

interface Recording {
  /** The file's name. */
  of: string;
  /** What stands for the key in it. */
  key: string;
  /** Whether each event has an id, so that a repetition counts once. */
  hasIds: boolean;
  /** Kind and id of each event, `-` where address and agent tell the visitor. */
  events: readonly string[];
  /** Identity calls: externalId, and what it takes over. */
  calls?: readonly string[];
}

const recordings: readonly Recording[] = [
  {
    of: 'posthog',
    key: 'phc_key',
    hasIds: true,
    events: [
      'page_view 01a21f28-4b4b-7334-8dcc-71b1ec81a9dd',
      'identify user1',
      'signed_up 01a21f28-4b4b-7334-8dcc-71b1ec81a9dd',
      'create_alias user1',
      'groupidentify user1',
      'after_identify user1',
      'after_reset 01a21f28-73c3-7065-adef-40abd5212489',
      'last_before_unload 01a21f28-73c3-7065-adef-40abd5212489',
      'page_leave 01a21f28-73c3-7065-adef-40abd5212489',
    ],
    calls: ['user1 01a21f28-4b4b-7334-8dcc-71b1ec81a9dd', 'user1 alias1', 'user1'],
  },
  {
    of: 'posthog-node',
    key: 'phc_key',
    hasIds: true,
    events: ['signed_up u1', 'identify u1', 'create_alias u1'],
    calls: ['u1', 'u1 anon1'],
  },
  {
    of: 'segment',
    key: 'wkey',
    hasIds: true,
    events: [
      'page_view 331c2c01-ba2c-45b2-aeb6-2e159bd29cc6',
      'signed_up 331c2c01-ba2c-45b2-aeb6-2e159bd29cc6',
      'group user1',
      'after_identify user1',
      'after_reset d29cc673-88e6-4f7f-b209-a3e02f092eec',
      'last_before_unload d29cc673-88e6-4f7f-b209-a3e02f092eec',
    ],
    calls: ['user1 331c2c01-ba2c-45b2-aeb6-2e159bd29cc6', 'user1'],
  },
  {
    of: 'segment-node',
    key: 'wkey',
    hasIds: true,
    events: ['signed_up u1'],
    calls: ['u1', 'u1 anon1'],
  },
  {
    of: 'rudder-bundled',
    key: 'wkey',
    hasIds: true,
    events: [
      'page_view bdade592-e957-4319-8606-a61da1c9826a',
      'signed_up bdade592-e957-4319-8606-a61da1c9826a',
      'group user1',
      'after_identify user1',
      'after_reset 89f67c95-fe88-4a75-a449-a33115c9711b',
      'last_before_unload 89f67c95-fe88-4a75-a449-a33115c9711b',
    ],
    calls: ['user1 bdade592-e957-4319-8606-a61da1c9826a', 'alias1 user1', 'user1'],
  },
  {
    of: 'rudder-v2',
    key: 'wkey',
    hasIds: true,
    events: [
      'page_view 0604a218-1550-4464-aba0-16bb7ad1676b',
      'signed_up 0604a218-1550-4464-aba0-16bb7ad1676b',
      'group user1',
      'after_identify user1',
      'last_before_unload user1',
    ],
    calls: ['user1 0604a218-1550-4464-aba0-16bb7ad1676b', 'alias1 user1', 'user1'],
  },
  { of: 'rudder-node', key: 'wkey', hasIds: true, events: ['signed_up u1'] },
  {
    of: 'mixpanel',
    key: 'mptoken',
    hasIds: true,
    events: [
      'signed_up $device:8e50031e-a552-48b3-9845-b06139e18eae',
      'identify user1',
      'create_alias user1',
      'page_view user1',
      'after_reset $device:eabf4f40-6ede-46ac-af89-bd180f5dd7a6',
    ],
    calls: [
      ...['user1 $device:8e50031e-a552-48b3-9845-b06139e18eae', 'user1 alias1'],
      // A call each: traits that are set, traits that are set once, and the group.
      ...['user1', 'user1', 'user1'],
    ],
  },
  {
    of: 'mixpanel-node',
    key: 'mptoken',
    hasIds: false,
    events: ['signed_up u1', 'b1 u1', 'b2 u1'],
  },
  {
    of: 'amplitude',
    key: 'ampkey',
    hasIds: true,
    events: [
      'identify b973756f-bc2e-4eb9-91df-18140321dfcd',
      'session_start b973756f-bc2e-4eb9-91df-18140321dfcd',
      'page_view b973756f-bc2e-4eb9-91df-18140321dfcd',
      'signed_up b973756f-bc2e-4eb9-91df-18140321dfcd',
      'identify user1',
      'identify user1',
      'groupidentify user1',
      'revenue_amount user1',
      'after_identify user1',
      'after_reset d20d58e6-59ef-4ce0-b1fb-d9fed2db1c25',
    ],
    calls: [
      'user1 b973756f-bc2e-4eb9-91df-18140321dfcd',
      'user1 b973756f-bc2e-4eb9-91df-18140321dfcd',
      'user1 b973756f-bc2e-4eb9-91df-18140321dfcd',
    ],
  },
  {
    of: 'amplitude-node',
    key: 'ampkey',
    hasIds: true,
    events: [
      'signed_up user1',
      'identify user1',
      'identify user1',
      'signed_up user1',
      'identify user1',
      'identify user1',
    ],
    calls: ['user1', 'user1', 'user1', 'user1'],
  },
  {
    of: 'plausible',
    key: 'shop.test',
    hasIds: false,
    events: ['page_view -', 'signed_up -', 'quiet -', 'last_before_unload -', 'page_leave -'],
  },
  {
    of: 'plausible-old',
    key: 'shop.test',
    hasIds: false,
    events: ['page_view -', 'signed_up -', 'last_before_unload -'],
  },
  {
    of: 'umami-node',
    key: '50429a93-8479-4073-be80-d5d29c09c2ec',
    hasIds: false,
    events: ['signed_up -', 'identify -'],
  },
  {
    of: 'openpanel',
    key: 'cid',
    hasIds: false,
    events: [
      'page_view -',
      'signed_up -',
      'after_identify user1',
      'revenue user1',
      'after_reset -',
    ],
    calls: ['user1', 'user1'],
  },
  { of: 'openpanel-sdk', key: 'cid', hasIds: false, events: ['signed_up -'], calls: ['u1', 'u1'] },
  {
    of: 'jitsu',
    key: 'k:s',
    hasIds: true,
    events: [
      'page_view ad7c004a-9403-49f5-8e28-73a5eb9f2926',
      'signed_up ad7c004a-9403-49f5-8e28-73a5eb9f2926',
      'group user1',
      'after_identify user1',
      'after_reset 236147d0-a3b9-4380-907f-4caec73c47bd',
      'last_before_unload 236147d0-a3b9-4380-907f-4caec73c47bd',
    ],
    calls: ['user1 ad7c004a-9403-49f5-8e28-73a5eb9f2926', 'user1'],
  },
  {
    of: 'snowplow',
    key: 'app',
    hasIds: true,
    events: [
      'page_view cd40df99-6381-4aae-b7b9-0f3787aed608',
      'signed_up cd40df99-6381-4aae-b7b9-0f3787aed608',
      'a cd40df99-6381-4aae-b7b9-0f3787aed608',
      'page_view user1',
      'after 02722ada-58fb-4050-bfd4-e0eb5a35107e',
      'newsession 02722ada-58fb-4050-bfd4-e0eb5a35107e',
      'last 02722ada-58fb-4050-bfd4-e0eb5a35107e',
    ],
  },
  { of: 'snowplow-node', key: 'app', hasIds: true, events: ['signed_up -'] },
  { of: 'matomo-node', key: '3', hasIds: false, events: ['act u1', 'page_view -', 'page_view u1'] },
  {
    of: 'ga4',
    key: 'G-ABC',
    hasIds: false,
    events: ['page_view 6492813426415195', 'signed_up 6492813426415195', 'last 6492813426415195'],
  },
  {
    of: 'rybbit',
    key: '5',
    hasIds: false,
    events: [
      'page_view -',
      'signed_up -',
      'page_view user1',
      'outbound_click user1',
      'after_identify user1',
      'after_reset -',
    ],
    calls: ['user1', 'user1'],
  },
  { of: 'rybbit-node', key: '5', hasIds: false, events: ['signed_up -', 'page_view -'] },
];

let service: IngestService;
beforeAll(async () => {
  if (!hasTestData) return;
  service = await startIngestService({ clock: { nowMs: () => nowMs } });
  await changeProject(service.projects, service.projectId, systemClock, (project) => ({
    ...project,
    compat: compatFamilies,
  }));
});
afterAll(() => service?.stop());

interface Queued {
  eventId: string;
  kind: string;
  distinctId?: string;
  customProperties: Record<string, unknown>;
  autoProperties: Record<string, { stringValue?: string }>;
}

async function queuedEvents(): Promise<Queued[]> {
  return (await service.queued()).flatMap(
    ({ body }): Queued[] => JSON.parse(Buffer.from(body).toString()).events,
  );
}

async function queuedCalls(): Promise<string[]> {
  return (await service.queued('PROFILES_0')).map(({ body }) => {
    const change = JSON.parse(Buffer.from(body).toString());
    return [change.externalId, change.previousId ?? change.anonymousId].filter(Boolean).join(' ');
  });
}

async function send(recording: Recording, isFirst: boolean): Promise<void> {
  const { requests }: { requests: RecordedRequest[] } = JSON.parse(
    readFileSync(testData('wire', `${recording.of}.json`), 'utf8'),
  );
  for (const request of requests) {
    // A long body of a beacon was cut when it was recorded.
    if (typeof request.body === 'string' && request.body.endsWith('…')) continue;
    const { path, init } = requestOf(request, recording.key, service.publicKey);
    const response = await fetch(service.baseUrl + path, init);
    const answer = await response.text();
    expect([path, response.status, answer]).toEqual([path, expect.any(Number), answer]);
    if (isFirst) expect([path, response.ok, answer]).toEqual([path, true, answer]);
  }
}

describe.runIf(hasTestData)('the recorded requests of', () => {
  it.each(recordings)('$of', async (recording) => {
    const [eventsBefore, callsBefore] = [
      (await queuedEvents()).length,
      (await queuedCalls()).length,
    ];
    await send(recording, true);
    const events = (await queuedEvents()).slice(eventsBefore);
    const calls = (await queuedCalls()).slice(callsBefore);
    expect(events.map(({ kind, distinctId }) => `${kind} ${distinctId ?? '-'}`)).toEqual(
      recording.events,
    );
    expect(calls).toEqual(recording.calls ?? []);
    for (const { customProperties } of events.filter(({ kind }) => kind === 'signed_up')) {
      expect(customProperties).toMatchObject({ i: { intValue: '7' } });
      expect(['text é', 'text', 'x']).toContain(Object.values(customProperties['s'] ?? {})[0]);
    }
    if (!recording.hasIds) return;
    await send(recording, false);
    const again = (await queuedEvents()).slice(eventsBefore).map(({ eventId }) => eventId);
    expect(new Set(again).size).toBe(new Set(events.map(({ eventId }) => eventId)).size);
  });
});
