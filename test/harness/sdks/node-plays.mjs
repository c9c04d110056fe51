// What a program does with each vendor's SDK of Node, in the SDK's own words. Runs in the folder where the packages are
// installed: `node node-plays.mjs SDK URL KEY TIME`. Each line on standard input is an event to track, `end` the last;
// lines on standard output tell that the SDK has played, and that it has said what became of an event.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [sdk, url, key, time] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const page = { url: 'http://shop.test/page?utm_source=news', title: 'Shop' };
const traits = { plan: 'pro', seats: 3 };
/** A moment that the SDK is told for an event of the past. */
const past = new Date(time);
const properties = {
  s: 'text é',
  i: 7,
  f: 1.5,
  b: true,
  n: null,
  d: new Date('2026-01-02T03:04:05.678Z'),
  a: [1, 'x'],
  o: { k: 1 },
};

/** Resolves where the SDK calls back, whatever it says. */
const called = (call) => new Promise((resolve) => call(() => resolve()));
const settled = (promise) =>
  Promise.resolve(promise).then(
    () => {},
    () => {},
  );

/** Each resolves to how the SDK tracks once more, and how it ends. */
const plays = {
  async posthog() {
    const { PostHog } = require('posthog-node');
    const client = new PostHog(key, { host: url });
    client.capture({
      distinctId: 'anon1',
      event: '$pageview',
      properties: { $current_url: page.url },
    });
    client.capture({ distinctId: 'anon1', event: 'signed up', properties });
    client.capture({ distinctId: 'anon1', event: 'dated', timestamp: past });
    client.identify({ distinctId: 'user1', properties: traits });
    client.alias({ distinctId: 'user1', alias: 'anon1' });
    client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { size: 9 } });
    client.capture({ distinctId: 'user1', event: 'in group', groups: { company: 'acme' } });
    await client.flush();
    return {
      track: (event) => {
        client.capture({ distinctId: 'user1', event });
        return settled(client.flush());
      },
      end: () => client.shutdown(60_000),
    };
  },

  async segment() {
    const { Analytics } = require('@segment/analytics-node');
    const client = new Analytics({ writeKey: key, host: url, flushAt: 1 });
    return playSpec(client, () => client.closeAndFlush({ timeout: 60_000 }));
  },

  async 'segment-6'() {
    const Analytics = require('analytics-node');
    const client = new Analytics(key, { host: url, flushAt: 1, errorHandler: () => {} });
    return playSpec(client, () => client.flush());
  },

  async rudderstack() {
    const { default: Analytics } = await import('@rudderstack/rudder-sdk-node');
    const options = { dataPlaneUrl: url, flushAt: 1, logLevel: 'none', errorHandler: () => {} };
    const client = new Analytics(key, options);
    return playSpec(client, () => client.flush());
  },

  async mixpanel() {
    const { host, protocol } = new URL(url);
    const client = require('mixpanel').init(key, { host, protocol: protocol.slice(0, -1) });
    const anonymous = { distinct_id: 'anon1' };
    const viewed = { ...anonymous, current_page_title: page.title, $current_url: page.url };
    await called((done) => client.track('$mp_web_page_view', viewed, done));
    await called((done) => client.track('signed up', { ...anonymous, ...properties }, done));
    await called((done) => client.track('dated', { ...anonymous, time: past }, done));
    await called((done) => client.alias('user1', 'anon1', done));
    await called((done) => client.people.set('user1', traits, done));
    await called((done) => client.groups.set('company', 'acme', { size: 9 }, done));
    return {
      track: (event) => called((done) => client.track(event, { distinct_id: 'user1' }, done)),
      end: () => {},
    };
  },

  async amplitude() {
    const amplitude = require('@amplitude/analytics-node');
    const options = { serverUrl: `${url}/2/httpapi`, flushIntervalMillis: 1_000, logLevel: 0 };
    await amplitude.init(key, options).promise;
    const user = { user_id: 'user1', device_id: 'anon1' };
    const plan = new amplitude.Identify();
    for (const name in traits) plan.set(name, traits[name]);
    const sent = [
      amplitude.track(
        '[Amplitude] Page Viewed',
        { '[Amplitude] Page Location': page.url },
        { device_id: 'anon1' },
      ),
      amplitude.track('signed up', properties, { device_id: 'anon1' }),
      amplitude.track('dated', {}, { device_id: 'anon1', time: past.getTime() }),
      amplitude.identify(plan, user),
      amplitude.setGroup('company', 'acme', user),
      amplitude.track('in group', {}, { ...user, groups: { company: 'acme' } }),
    ];
    await Promise.all(sent.map(({ promise }) => promise));
    return {
      track: (event) => settled(amplitude.track(event, {}, user).promise),
      end: () => amplitude.flush().promise,
    };
  },

  async umami() {
    const { default: umami } = require('@umami/node');
    umami.init({ websiteId: key, hostUrl: url });
    await umami.track({ hostname: 'shop.test', ...page });
    await umami.track('signed up', properties);
    await umami.identify(traits);
    return { track: (event) => settled(umami.track(event, {})), end: () => umami.reset() };
  },

  async openpanel() {
    const { OpenPanel } = await import('@openpanel/sdk');
    const client = new OpenPanel({ clientId: key, apiUrl: url });
    await client.track('screen_view', { __path: page.url, __title: page.title });
    await client.track('signed up', properties);
    await client.identify({ profileId: 'user1', firstName: 'Ada', properties: traits });
    await client.setGroup('acme');
    await client.track('in group');
    client.clear();
    await client.track('after reset');
    await client.identify({ profileId: 'user1' });
    return { track: (event) => settled(client.track(event)), end: () => client.flush() };
  },

  async snowplow() {
    const {
      newTracker,
      buildPageView,
      buildSelfDescribingEvent,
    } = require('@snowplow/node-tracker');
    let answered = () => {};
    const onAnswer = () => answered();
    const tracker = newTracker(
      { namespace: 'sp', appId: key },
      { endpoint: url, bufferSize: 1, onRequestSuccess: onAnswer, onRequestFailure: onAnswer },
    );
    const track = (name, data = {}, timestamp = undefined) => {
      const schema = `iglu:com.acme/${name}/jsonschema/1-0-0`;
      const event = buildSelfDescribingEvent({ event: { schema, data } });
      return called((done) => {
        answered = done;
        tracker.track(event, [], timestamp);
      });
    };
    tracker.setDomainUserId('anon1');
    await called((done) => {
      answered = done;
      tracker.track(buildPageView({ pageUrl: page.url, pageTitle: page.title }));
    });
    await track('signed_up', properties);
    await track('dated', {}, past.getTime());
    tracker.setUserId('user1');
    return { track, end: () => tracker.flush() };
  },

  async matomo() {
    const Matomo = require('matomo-tracker');
    const tracker = new Matomo(key, `${url}/matomo.php`);
    let failed = () => {};
    tracker.on('error', () => failed());
    const send = (hit) =>
      called((done) => {
        failed = done;
        tracker.trackBulk([{ url: page.url, ...hit }], done);
      });
    const visitor = { _id: '0123456789abcdef' };
    tracker.track({ url: page.url, action_name: page.title, ...visitor });
    await send({
      ...visitor,
      e_c: 'account',
      e_a: 'signed up',
      e_n: 'text é',
      e_v: 1.5,
      dimension1: 'x',
    });
    await send({
      ...visitor,
      e_c: 'account',
      e_a: 'dated',
      cdt: Math.floor(past.getTime() / 1_000),
    });
    return { track: (event) => send({ uid: 'user1', e_c: 'c', e_a: event }), end: () => {} };
  },

  async ga4() {
    const { default: Analytics } = require('electron-google-analytics4');
    const client = new Analytics(key, 'secret', 'anon1', '1795819064');
    client.baseURL = `${url}/mp`;
    await client.event('page_view');
    client.setParams(properties);
    await client.event('signed up');
    // As the vendor documents it: the package has neither times nor users.
    const address = `${url}/mp/collect?measurement_id=${key}&api_secret=secret`;
    const send = (body) =>
      fetch(address, { method: 'POST', body: JSON.stringify({ client_id: 'anon1', ...body }) });
    const micros = past.getTime() * 1_000;
    await send({ events: [{ name: 'dated', params: {}, timestamp_micros: micros }] });
    const user_properties = Object.fromEntries(
      Object.entries(traits).map(([name, value]) => [name, { value }]),
    );
    await send({ user_id: 'user1', user_properties, events: [{ name: 'as_user', params: {} }] });
    client.setParams({});
    return { track: (event) => settled(client.event(event)), end: () => {} };
  },

  async rybbit() {
    const { Rybbit } = require('@rybbit/node');
    const client = new Rybbit({ analyticsHost: `${url}/api`, siteId: key, apiKey: key });
    const user = { user_id: 'user1' };
    await client.pageview({ hostname: 'shop.test', pathname: '/page', page_title: page.title });
    await client.event('signed up', {}, properties);
    return { track: (event) => settled(client.event(event, user)), end: () => {} };
  },
};

/** Segment's calls, which RudderStack has too. */
async function playSpec(client, end) {
  const anonymous = { anonymousId: 'anon1' };
  const viewed = { ...anonymous, name: 'Home', properties: { url: page.url, title: page.title } };
  await called((done) => client.page(viewed, done));
  await called((done) => client.track({ ...anonymous, event: 'signed up', properties }, done));
  await called((done) => client.track({ ...anonymous, event: 'dated', timestamp: past }, done));
  await called((done) => client.track({ userId: 'old1', event: 'as old' }, done));
  await called((done) => client.identify({ ...anonymous, userId: 'user1', traits }, done));
  await called((done) => client.alias({ userId: 'user1', previousId: 'old1' }, done));
  const group = { userId: 'user1', groupId: 'acme', traits: { size: 9 } };
  await called((done) => client.group(group, done));
  return {
    track: (event) => called((done) => client.track({ userId: 'user1', event }, done)),
    end,
  };
}

const tell = (line) => process.stdout.write(`${line}\n`);
const { track, end } = await plays[sdk]();
tell('played');
let last = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  last = track(line).then(() => tell(`settled ${line}`));
}
await Promise.all([end(), last]);
process.exit(0);
