// What a viewer is shown, at which rate, and what a slow reader loses.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  FilterOperator,
  PropertyFilterSchema,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import { PropertyValueSchema } from '../../proto/gen/common/v1/property_value_pb.js';
import {
  ActivityEventSchema,
  WatchRequestSchema,
  WatchStage,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { RequestContext } from '../../proto/wire/frame.ts';
import { type RefusalMessage, untoldRefusals } from '../../proto/wire/live/refusal-message.ts';
import type { VerdictMessage } from '../../proto/wire/live/verdict-message.ts';
import { ArrivalSampler } from './arrival-sampler.ts';
import { readArrivingEvent } from './arriving-event.ts';
import { type Arriving, maxRowsInFrame, Viewer } from './viewer.ts';
import { readWatchRequest } from './watch-request.ts';

let nowMs = Date.UTC(2026, 0, 1);

function viewerOf(request: MessageInitShape<typeof WatchRequestSchema> = {}): Viewer {
  return new Viewer(readWatchRequest(create(WatchRequestSchema, request)), () => nowMs);
}

const idOf = (number: number): string =>
  `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;

function arriving(number: number, characters = 10): Arriving {
  const text = create(PropertyValueSchema, {
    value: { case: 'stringValue', value: 'x'.repeat(characters) },
  });
  const event = create(ActivityEventSchema, {
    eventId: idOf(number),
    kind: 'view',
    customProperties: { text },
  });
  return { kind: 'view', event: () => event };
}

function verdict(stored: readonly number[]): VerdictMessage {
  const digits = stored.map((number) => idOf(number).replaceAll('-', '')).join('');
  return {
    ...{ timeMs: nowMs, stored: stored.length, duplicates: 0, dead: 0, deadEvents: [] },
    ...{ storedIds: Buffer.from(digits, 'hex'), duplicateIds: new Uint8Array() },
  };
}

function refusal(): RefusalMessage {
  return {
    ...{ timeMs: nowMs, method: 'm', eventIndex: -1, field: 'body', rule: 'body_json' },
    ...{ kind: '', sdk: '', untold: 0 },
  };
}

it('a reader that takes nothing loses rows, and another does not', () => {
  const slow = viewerOf({ samplePerSecond: 1_000 });
  const quick = viewerOf({ samplePerSecond: 1_000 });
  let taken = 0;
  for (let number = 0; number < 5_000; number++) {
    if (number % 500 === 0) nowMs += 1_000;
    for (const viewer of [slow, quick]) viewer.arrive(arriving(number), nowMs);
    taken += quick.take().length;
  }
  expect([quick.takeTotals(0).lost, taken]).toEqual([0n, 5_000]);
  let kept = 0;
  for (let rows = slow.take(); rows.length > 0; rows = slow.take()) {
    expect(rows.length).toBeLessThanOrEqual(maxRowsInFrame);
    kept += rows.length;
  }
  expect(slow.takeTotals(0)).toMatchObject({ lost: BigInt(5_000 - kept), sampledOut: 0n });
  expect(kept).toBeLessThanOrEqual(2_000);
  slow.arrive(arriving(5_000), nowMs);
  expect(slow.take()).toHaveLength(1);
});

it('large events fill the room of a reader sooner', () => {
  const viewer = viewerOf();
  for (let number = 0; number < 10; number++) viewer.arrive(arriving(number, 300_000), nowMs);
  expect(viewer.take()).toHaveLength(3);
  expect(viewer.takeTotals(0).lost).toBe(7n);
});

it('so do events of many small properties, which take more than their JSON', () => {
  const viewer = viewerOf();
  const customProperties = Object.fromEntries(
    Array.from({ length: 250 }, (_, n) => [`p${n}`, create(PropertyValueSchema)]),
  );
  const event = create(ActivityEventSchema, { kind: 'view', customProperties });
  for (let number = 0; number < 50; number++) {
    viewer.arrive({ kind: 'view', event: () => event }, nowMs);
  }
  expect(viewer.take()).toHaveLength(Math.floor(2_097_152 / 42_080));
});

it('an event of a sender whose clock is off is shown at the time at which it will be stored', () => {
  const day = 86_400_000;
  const context: RequestContext = {
    ...{ projectId: 'p', credential: 'public', receiveTimeMs: nowMs, timeShiftMs: day },
    cookieless: { today: 'cookieless-t' },
  };
  const occurTime = new Date(nowMs - day).toISOString();
  const event = readArrivingEvent({ occurTime, kind: 'view', cookieless: true }, context);
  expect(event?.occurTime && timestampMs(event.occurTime)).toBe(nowMs);
  expect(event?.distinctId).toBe('cookieless-t');
});

describe('the rate', () => {
  it('bounds the events of a second, and each is shown with its later stages', () => {
    const viewer = viewerOf();
    const numbers = Array.from({ length: 80 }, (_, number) => number);
    for (const number of numbers) viewer.arrive(arriving(number), nowMs);
    viewer.judge(verdict(numbers));
    const stages = viewer.take().map(({ stage }) => stage);
    expect(stages.filter((stage) => stage === WatchStage.ARRIVING)).toHaveLength(50);
    expect(stages.filter((stage) => stage === WatchStage.STORED)).toHaveLength(50);
    expect(viewer.takeTotals(7)).toMatchObject({
      time: timestampFromMs(nowMs),
      stored: 80n,
      sampledOut: 30n,
      lag: { nanos: 7e6 },
    });
    nowMs += 100;
    for (const number of numbers) viewer.arrive(arriving(number), nowMs);
    expect(viewer.take()).toHaveLength(5);
  });

  it('is a share where the process has many viewers', () => {
    const viewer = viewerOf({ samplePerSecond: 1_000 });
    viewer.limitRate(0.1);
    for (let number = 0; number < 300; number++) viewer.arrive(arriving(number), nowMs);
    expect(viewer.take()).toHaveLength(100);
    viewer.limitRate(1);
    nowMs += 1_000;
    for (let number = 0; number < 300; number++) viewer.arrive(arriving(number), nowMs);
    expect(viewer.take()).toHaveLength(300);
  });

  it('bounds the events that are read for a filter that none of them meets', () => {
    const asked = { property: 'plan', value: 'pro', source: PropertySource.CUSTOM };
    const filter = { ...asked, operator: FilterOperator.EQUALS };
    const viewer = viewerOf({ filters: [create(PropertyFilterSchema, filter)] });
    let read = 0;
    const other = { kind: 'view' };
    const event = () => {
      read++;
      return create(ActivityEventSchema, { kind: 'view' });
    };
    for (let number = 0; number < 9_000; number++) viewer.arrive({ ...other, event }, nowMs);
    expect(read).toBe(2_000);
    expect(viewer.takeTotals(0)).toMatchObject({ sampledOut: 7_000n });
    expect(viewer.hasRoom).toBe(false);
    nowMs += 1_000;
    expect(viewer.hasRoom).toBe(true);
  });

  it('holds for refusals, and totals count all of them', () => {
    const viewer = viewerOf({ samplePerSecond: 1 });
    for (let count = 0; count < 3; count++) viewer.refuse({ ...refusal(), untold: 3 });
    viewer.refuse(untoldRefusals(nowMs, 5));
    expect(viewer.take()).toMatchObject([{ stage: WatchStage.REFUSED, rule: 'body_json' }]);
    expect(viewer.takeTotals(0)).toMatchObject({ refused: 17n, sampledOut: 2n });
  });
});

it('a stage that was not asked for is not shown, and the later stages of its events are', () => {
  const viewer = viewerOf({ stages: [WatchStage.STORED] });
  viewer.arrive(arriving(1), nowMs);
  expect(viewer.take()).toEqual([]);
  viewer.judge(verdict([1, 2]));
  expect(viewer.take()).toMatchObject([{ stage: WatchStage.STORED, event: { kind: 'view' } }]);
});

it('who asks for refusals alone is shown them, whatever arrives', () => {
  const viewer = viewerOf({ stages: [WatchStage.REFUSED], samplePerSecond: 1 });
  for (let number = 0; number < 100; number++) viewer.arrive(arriving(number), nowMs);
  viewer.refuse(refusal());
  // Its rate is used up now. No body is read for it, so none is needed.
  const context = { projectId: '', credential: 'public', receiveTimeMs: nowMs } as const;
  const request = { context, body: new Uint8Array(), events: 7 };
  new ArrivalSampler({ nowMs: () => nowMs }).arrive(request, [viewer], 1);
  expect(viewer.take()).toMatchObject([{ stage: WatchStage.REFUSED }]);
  expect(viewer.takeTotals(0)).toMatchObject({ arriving: 7n, sampledOut: 0n });
});

it('who does not ask for refusals is shown events, whatever is refused', () => {
  const viewer = viewerOf({ stages: [WatchStage.ARRIVING], samplePerSecond: 1 });
  for (let count = 0; count < 50; count++) viewer.refuse(refusal());
  viewer.arrive(arriving(1), nowMs);
  expect(viewer.take()).toMatchObject([{ stage: WatchStage.ARRIVING }]);
  expect(viewer.takeTotals(0)).toMatchObject({ refused: 50n, sampledOut: 0n });
});

it('one project with large bodies leaves the others their share of what is read', () => {
  const sampler = new ArrivalSampler({ nowMs: () => nowMs });
  const event = { eventId: idOf(1), kind: 'view', distinctId: 'ada' };
  const body = Buffer.from(JSON.stringify({ events: [event] }).padEnd(1_048_576));
  const viewers = { a: viewerOf(), b: viewerOf() };
  const arrive = (projectId: 'a' | 'b'): void => {
    const context = { projectId, credential: 'public', receiveTimeMs: nowMs } as const;
    sampler.arrive({ context, body, events: 1 }, [viewers[projectId]], 2);
  };
  for (let count = 0; count < 5; count++) arrive('a');
  arrive('b');
  expect(viewers.a.takeTotals(0)).toMatchObject({ arriving: 5n, sampledOut: 3n });
  expect(viewers.b.takeTotals(0)).toMatchObject({ arriving: 1n, sampledOut: 0n });
  nowMs += 1_000;
  arrive('a');
  expect(viewers.a.takeTotals(0)).toMatchObject({ sampledOut: 0n });
});
