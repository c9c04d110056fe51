// The packages of other vendors for Node, each in a program of its own against the whole product: a play of all its
// calls, a restart, ten seconds of 503, ten seconds without a connection, and the program's end.

import { rmSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { type BusyServer, startBusyServer } from '../harness/sdks/busy-server.ts';
import {
  allTypes,
  describePlays,
  type Expected,
  newPerformance,
  perform,
} from '../harness/sdks/described-plays.ts';
import { placePlays, startNodePlayer } from '../harness/sdks/node-player.ts';
import { installPackages, nodePackages } from '../harness/sdks/packages.ts';
import { setStage, startPlayedStack } from '../harness/sdks/player.ts';
import type { Stack } from '../harness/servers/stack.ts';

const traits = { plan: 'pro', seats: 3 };
const spec = ['as_old', 'dated', 'group', 'page_view', 'signed_up'];

const all: readonly Expected[] = [
  {
    sdk: 'posthog',
    persons: [
      ['groupidentify'],
      ['create_alias', 'dated', 'identify', 'in_group', 'page_view', 'signed_up'],
    ],
    ...{
      traits,
      hasTimes: true,
      types: allTypes,
      keeps: { busy: false, closed: true, last: true },
    },
  },
  {
    sdk: 'segment',
    persons: [spec],
    traits: { ...traits, $group_group: 'acme' },
    ...{ hasTimes: true, types: allTypes, keeps: { busy: true, closed: true, last: true } },
  },
  {
    sdk: 'segment-6',
    persons: [spec],
    traits: { ...traits, $group_group: 'acme' },
    ...{ hasTimes: true, types: allTypes, keeps: { busy: false, closed: false, last: true } },
  },
  {
    sdk: 'rudderstack',
    persons: [spec],
    traits: { ...traits, $group_group: 'acme' },
    ...{ hasTimes: true, types: allTypes, keeps: { busy: false, closed: false, last: true } },
  },
  {
    sdk: 'mixpanel',
    persons: [['create_alias', 'dated', 'page_view', 'signed_up']],
    ...{
      traits,
      hasTimes: false,
      types: allTypes,
      keeps: { busy: false, closed: false, last: true },
    },
  },
  {
    sdk: 'amplitude',
    persons: [['dated', 'identify', 'identify', 'in_group', 'page_view', 'signed_up']],
    traits: { ...traits, company: 'acme', $group_company: 'acme' },
    ...{ hasTimes: true, types: allTypes, keeps: { busy: true, closed: false, last: true } },
  },
  {
    sdk: 'umami',
    persons: [['identify', 'page_view', 'signed_up']],
    ...{ hasTimes: false, types: allTypes, keeps: { busy: false, closed: false, last: true } },
  },
  {
    sdk: 'openpanel',
    persons: [['after_reset', 'page_view', 'signed_up'], ['in_group']],
    traits: { ...traits, firstName: 'Ada', $group_group: 'acme' },
    ...{ hasTimes: false, types: allTypes, keeps: { busy: false, closed: false, last: true } },
  },
  {
    sdk: 'snowplow',
    persons: [['dated', 'page_view', 'signed_up'], []],
    ...{ hasTimes: true, types: allTypes, keeps: { busy: true, closed: true, last: true } },
  },
  {
    sdk: 'matomo',
    persons: [['dated', 'page_view', 'signed_up'], []],
    ...{ hasTimes: false, types: allTypes, keeps: { busy: false, closed: false, last: true } },
    types: {
      category: { stringValue: 'account' },
      name: { stringValue: 'text é' },
      value: { doubleValue: 1.5 },
      dimension1: { stringValue: 'x' },
    },
  },
  {
    sdk: 'ga4',
    persons: [['as_user'], ['dated', 'page_view', 'signed_up']],
    ...{ traits, hasTimes: false, types: allTypes },
    keeps: { busy: false, closed: false, last: true },
  },
  {
    sdk: 'rybbit',
    persons: [['page_view', 'signed_up'], []],
    ...{ hasTimes: false, types: allTypes, keeps: { busy: false, closed: false, last: true } },
  },
];

const performance = newPerformance();
let stack: Stack;
let busy: BusyServer;
let folder: string | undefined;

beforeAll(async () => {
  folder = installPackages(nodePackages);
  placePlays(folder);
  stack = await startPlayedStack();
  busy = await startBusyServer();
  const fromMs = Date.now();
  for (const { sdk } of all) {
    const stage = await setStage(stack.baseUrl);
    const player = await startNodePlayer(sdk, stage, { folder, past: performance.past });
    performance.players.push(player);
  }
  performance.tracked.set('play', { fromMs, beforeMs: Date.now() });
  await perform(all, performance, stack, busy);
}, 900_000);

afterAll(async () => {
  await busy?.stop();
  await stack?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describePlays(all, performance);
