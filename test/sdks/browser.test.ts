// The packages of other vendors for browsers, each on a page of its own in Chromium against the whole product: a play
// of all its calls, a restart, ten seconds of 503, ten seconds without a connection, and a page that is left.

import { rmSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBrowser } from '../harness/clients/browser.ts';
import { newCustomer } from '../harness/clients/new-customer.ts';
import { onlyLoopback, startBrowserPlayer } from '../harness/sdks/browser-player.ts';
import { type BusyServer, startBusyServer } from '../harness/sdks/busy-server.ts';
import {
  allTypes,
  describePlays,
  type Expected,
  newPerformance,
  perform,
} from '../harness/sdks/described-plays.ts';
import { browserPackages, installPackages } from '../harness/sdks/packages.ts';
import {
  refusedRequest,
  setStage,
  startPlayedStack,
  storedKinds,
  switchOnFamilies,
} from '../harness/sdks/player.ts';
import { fetchUmamiScript, type PlaysSite, startPlaysSite } from '../harness/sdks/plays-site.ts';
import { startGate } from '../harness/servers/gate.ts';
import type { Stack } from '../harness/servers/stack.ts';

const traits = { plan: 'pro', seats: 3 };
const onHost = expect.stringMatching(/^localhost:\d+$/);
const onPage = expect.stringMatching(/^http:\/\/localhost:\d+\/posthog$/);
/** Once of each person: where from, and on which page, a visitor was first seen. */
const firstReferrer = { $initial_referrer: '$direct', $initial_referring_domain: '$direct' };
/** As PostHog tells it, of the page and of the first one. */
const pageOfPostHog = {
  ...firstReferrer,
  ...{ $referrer: '$direct', $referring_domain: '$direct' },
  ...{ $current_url: onPage, $initial_current_url: onPage },
  ...{ $host: onHost, $initial_host: onHost },
  ...{ $pathname: '/posthog', $initial_pathname: '/posthog' },
};
/** As Amplitude tells what a visitor did not come with. */
const cameWithNothing = [
  ...['dclid', 'fbclid', 'gbraid', 'gclid', 'ko_click_id', 'li_fat_id', 'msclkid', 'rdt_cid'],
  ...['referrer', 'referring_domain', 'ttclid', 'twclid', 'utm_campaign', 'utm_content'],
  ...['utm_id', 'utm_medium', 'utm_source', 'utm_term', 'wbraid'],
].map((name) => [`initial_${name}`, 'EMPTY']);
/** These write a Date as an object without members. */
const dateLost = { ...allTypes, d: { stringValue: '{}' } };
const losesBoth = { busy: false, closed: false };
const keepsAll = { busy: true, closed: true, last: true };

const all: readonly Expected[] = [
  {
    sdk: 'posthog',
    persons: [
      ['create_alias', 'dated', 'groupidentify', 'identify', 'in_group', 'page_view', 'signed_up'],
      ['page_view'],
    ],
    traits: { ...traits, ...pageOfPostHog, $group_company: 'acme' },
    ...{ hasTimes: true, types: dateLost, keeps: keepsAll },
  },
  {
    sdk: 'segment',
    persons: [['dated', 'group', 'page_view', 'signed_up'], ['page_view']],
    traits: { ...traits, $group_group: 'acme' },
    ...{ hasTimes: true, types: allTypes, keeps: keepsAll },
  },
  ...['rudderstack', 'rudderstack-plugins', 'rudderstack-2', 'rudderstack-beacon'].map(
    (sdk): Expected => ({
      sdk,
      persons: [['dated', 'group', 'page_view', 'signed_up'], ['page_view']],
      traits: { ...traits, $group_group: 'acme' },
      ...{ hasTimes: true, types: allTypes },
      // A page is not told what became of a beacon.
      keeps: sdk === 'rudderstack-beacon' ? { ...losesBoth, last: true } : keepsAll,
    }),
  ),
  {
    sdk: 'mixpanel',
    persons: [['dated', 'identify', 'in_group', 'page_view', 'signed_up'], ['page_view']],
    // The SDK describes the visitor's browser, too.
    traits: {
      ...{ ...traits, company: ['acme'] },
      ...firstReferrer,
      ...{ $os: 'Linux', $browser: 'Chrome', $browser_version: 140 },
    },
    ...{ hasTimes: true, types: dateLost, keeps: { ...keepsAll, closed: false } },
  },
  {
    sdk: 'amplitude',
    persons: [
      [
        ...['dated', 'identify', 'identify', 'identify', 'in_group', 'page_view'],
        ...['session_start', 'signed_up'],
      ],
      ['identify', 'page_view'],
    ],
    traits: {
      ...{ ...traits, company: 'acme', $group_company: 'acme' },
      ...Object.fromEntries(cameWithNothing),
    },
    ...{ hasTimes: true, types: allTypes, keeps: { ...losesBoth, last: true } },
  },
  {
    sdk: 'amplitude-8',
    persons: [
      ['dated', 'identify', 'identify', 'in_group', 'page_view', 'signed_up'],
      ['page_view'],
    ],
    traits: { ...traits, company: 'acme', $group_company: 'acme' },
    ...{ hasTimes: true, types: allTypes, keeps: keepsAll },
  },
  {
    sdk: 'plausible',
    persons: [['page_view', 'page_view', 'signed_up']],
    types: { ...allTypes, amount: { doubleValue: 12.5 }, currency: { stringValue: 'EUR' } },
    ...{ hasTimes: false, keeps: { ...losesBoth, last: true } },
  },
  {
    sdk: 'plausible-tracker',
    persons: [['page_view', 'page_view', 'signed_up']],
    ...{ hasTimes: false, types: allTypes, keeps: { ...losesBoth, last: 'by luck' } },
  },
  {
    sdk: 'umami',
    persons: [['identify', 'page_view', 'page_view', 'signed_up']],
    ...{ hasTimes: false, types: allTypes, keeps: { ...losesBoth, last: 'by luck' } },
  },
  {
    sdk: 'openpanel',
    persons: [
      ['in_group', 'revenue'],
      ['page_view', 'page_view', 'signed_up'],
    ],
    traits: { ...traits, firstName: 'Ada', $group_group: 'acme' },
    ...{ hasTimes: false, types: allTypes, keeps: { ...losesBoth, last: true } },
  },
  {
    sdk: 'jitsu',
    persons: [['group', 'page_view', 'signed_up'], ['page_view']],
    traits: { ...traits, $group_group: 'acme' },
    ...{ hasTimes: true, types: allTypes, keeps: { ...losesBoth, last: 'by luck' } },
  },
  {
    sdk: 'snowplow',
    persons: [['dated', 'page_view', 'signed_up'], ['as_user'], ['page_view']],
    ...{ hasTimes: true, types: allTypes, keeps: keepsAll },
  },
  {
    sdk: 'rybbit',
    persons: [['as_user'], ['page_view', 'page_view', 'signed_up']],
    traits,
    ...{ hasTimes: false, types: allTypes, keeps: { ...losesBoth, last: true } },
  },
  {
    sdk: 'matomo',
    persons: [['dated', 'page_view', 'page_view', 'signed_up']],
    traits: {},
    ...{ hasTimes: false, keeps: { ...losesBoth, last: 'by luck' } },
    types: {
      category: { stringValue: 'account' },
      name: { stringValue: 'text é' },
      value: { doubleValue: 1.5 },
      dimension1: { stringValue: 'x' },
    },
  },
  {
    sdk: 'ga4',
    persons: [['page_view', 'page_view', 'signed_up']],
    ...{ hasTimes: false, keeps: { ...losesBoth, last: true } },
    types: {
      s: { stringValue: 'text é' },
      i: { intValue: '7' },
      f: { doubleValue: 1.5 },
      b: { stringValue: 'true' },
    },
  },
];

const performance = newPerformance();
let stack: Stack;
let busy: BusyServer;
let browser: Browser;
let site: PlaysSite;
let folder: string | undefined;

beforeAll(async () => {
  folder = installPackages(browserPackages);
  site = await startPlaysSite(folder, fetchUmamiScript(folder));
  stack = await startPlayedStack();
  busy = await startBusyServer();
  browser = await startBrowser(onlyLoopback);
  const { past, players, tracked } = performance;
  const fromMs = Date.now();
  for (const { sdk, keeps } of all) {
    const stage = await setStage(stack.baseUrl);
    const sendsLast = keeps.last === true;
    players.push(await startBrowserPlayer(sdk, { ...stage, browser, site, past, sendsLast }));
  }
  tracked.set('play', { fromMs, beforeMs: Date.now() });
  await perform(all, performance, stack, busy);
}, 900_000);

afterAll(async () => {
  await browser?.close();
  await site?.stop();
  await busy?.stop();
  await stack?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describePlays(all, performance);

it('posthog-js keeps what it tracks until its family is switched on', async () => {
  const [customer, gate] = [await newCustomer(stack.baseUrl), await startGate(stack.baseUrl)];
  const { past } = performance;
  const stage = { customer, gate, browser, site, past, sendsLast: true };
  const player = await startBrowserPlayer('posthog', stage);
  await refusedRequest(customer);
  expect(await customer.events()).toEqual([]);
  await switchOnFamilies(customer);
  const kinds = all[0]?.persons[0] ?? [];
  await storedKinds(customer, kinds);
  await player.end();
  await gate.stop();
  const events = await customer.events();
  const once = events.map(({ kind }) => String(kind)).filter((kind) => kinds.includes(kind));
  // The page is opened again at the end.
  expect(once.sort()).toEqual([...kinds, 'page_view'].sort());
});
