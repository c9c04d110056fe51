// What is told of a refused request, and how often.

import { expect, it, vi } from 'vitest';
import {
  decodeExclusions,
  type ExclusionMessage,
} from '../../proto/wire/live/exclusion-message.ts';
import { decodeRefusal, type RefusalMessage } from '../../proto/wire/live/refusal-message.ts';
import { refusal, violationRefusal } from '../rpc/answer.ts';
import { Refusals } from './refusals.ts';

const projectId = '0f0e0d0c-0b0a-4908-8706-050403020100';
const otherId = '1f0e0d0c-0b0a-4908-8706-050403020100';
const place = { projectId, method: 'sdk.events.v1.EventsService/BatchCreate', headers: {} };
const uuid = violationRefusal({ index: 1, field: 'eventId', rule: 'uuid' });

function listening(clock = { nowMs: () => 5_000 }) {
  const told: { subject: string; message: RefusalMessage | undefined }[] = [];
  const refusals = new Refusals({
    send: (subject, content) => void told.push({ subject, message: decodeRefusal(content) }),
    clock,
  });
  return { refusals, told };
}

it('is the rule, its place, and the kind', () => {
  const { refusals, told } = listening();
  const named = violationRefusal({
    ...{ index: 1, field: 'eventId' },
    rule: 'uuid',
    eventKind: 'signup',
  });
  for (const refusal of [named, uuid]) refusals.tell({ ...place, refusal });
  expect(told.map(({ message }) => message?.kind)).toEqual(['signup', '']);
  expect(told[0]).toEqual({
    subject: `refused.${projectId}`,
    message: {
      ...{ timeMs: 5_000, method: place.method, eventIndex: 1, field: 'eventId', rule: 'uuid' },
      ...{ kind: 'signup', sdk: '', untold: 0 },
    },
  });
});

it('names the field, and no key in it that may be a value', () => {
  const { refusals, told } = listening();
  const fields = {
    'autoProperties["$url"].stringValue': 'autoProperties["$url"].stringValue',
    'customProperties["Plan größer"]': 'customProperties["Plan größer"]',
    'customProperties["ada@example.com"].intValue': 'customProperties[].intValue',
    'customProperties["203.0.113.7"]': 'customProperties[]',
    'customProperties["a"b"].+49 170': 'customProperties[]',
    'customProperties["a"].b"]': 'customProperties[]',
    'ada@example.com': '',
    '': '',
  };
  for (const field of Object.keys(fields)) {
    refusals.tell({ ...place, refusal: violationRefusal({ index: 0, field, rule: 'uuid' }) });
  }
  expect(told.map(({ message }) => message?.field)).toEqual(Object.values(fields));
});

it('names the program that sent it, and no more of its agent', () => {
  const { refusals, told } = listening();
  const agents = [
    'curl/8.5.0',
    'connect-es/2.1.2 (node)',
    'Mozilla/5.0 (X11; Linux)',
    'x@y.z',
    'a'.repeat(40),
  ];
  for (const agent of agents)
    refusals.tell({ ...place, headers: { 'user-agent': agent }, refusal: uuid });
  const names = told.map(({ message }) => message?.sdk);
  expect(names).toEqual(['curl/8.5.0', 'connect-es/2.1.2', 'browser', '', '']);
});

it('is not told where the sender cannot mend it, or the project is no UUID', () => {
  const { refusals, told } = listening();
  refusals.tell({ ...place, refusal: refusal('unavailable', 'broker_unavailable', 'away') });
  refusals.tell({ ...place, refusal: refusal('unauthenticated', 'unauthenticated', 'who') });
  refusals.tell({ ...place, projectId: '*', refusal: uuid });
  expect(told).toEqual([]);
});

it('is told fifty times a second, and the next says how many were not', () => {
  let nowMs = 5_000;
  const { refusals, told } = listening({ nowMs: () => nowMs });
  for (let count = 0; count < 60; count++) refusals.tell({ ...place, refusal: uuid });
  refusals.tell({ ...place, projectId: otherId, refusal: uuid });
  expect(told).toHaveLength(51);
  nowMs += 1_000;
  refusals.tell({ ...place, refusal: uuid });
  expect(told.at(-1)?.message?.untold).toBe(10);
});

it('is counted a second later where no other follows', () => {
  vi.useFakeTimers();
  const { refusals, told } = listening();
  for (let count = 0; count < 60; count++) refusals.tell({ ...place, refusal: uuid });
  for (const _ of ['once', 'and no more']) vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  expect(told).toHaveLength(51);
  expect(told.at(-1)?.message).toMatchObject({ rule: '', untold: 10 });
});

it('counts each excluded event once, in one message for a project and second', () => {
  vi.useFakeTimers();
  const told: (ExclusionMessage | undefined)[] = [];
  const refusals = new Refusals({
    send: (_, content) => void told.push(decodeExclusions(content)),
    clock: { nowMs: () => 5_000 },
  });
  for (let count = 0; count < 100; count++) {
    refusals.tellExcluded(projectId, 'excluded_path', 3);
    refusals.tellExcluded(projectId, 'excluded_network', 1);
  }
  vi.advanceTimersByTime(1_000);
  refusals.tellExcluded(projectId, 'excluded_path', 1);
  refusals.tellRest();
  vi.advanceTimersByTime(1_000);
  vi.useRealTimers();
  expect(told).toEqual([
    { timeMs: 5_000, excluded: { excluded_path: 300, excluded_network: 100 } },
    { timeMs: 5_000, excluded: { excluded_path: 1 } },
  ]);
});
