// What a page does with each vendor's SDK for browsers, in the SDK's own words. Each loads the SDK as the vendor says,
// plays where it is the visitor's first page, and answers how the SDK tracks once more: a promise where the SDK tells
// what became of the event.

const page = { url: location.href, title: document.title };
const traits = { plan: 'pro', seats: 3 };
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

/** `url` is the service's; `isFirst` tells a page from the one that the visitor opens later. */
const plays = {
  async posthog({ url, key, past, isFirst }) {
    const { default: posthog } = await import('posthog-js');
    posthog.init(key, { api_host: url });
    // The page's view, which the SDK tells by itself.
    await called((done) => posthog.on('eventCaptured', done));
    const track = (event) => void posthog.capture(event);
    if (!isFirst) return track;
    posthog.capture('signed up', properties);
    posthog.capture('dated', {}, { timestamp: past });
    posthog.identify('user1', traits);
    posthog.alias('alias1');
    posthog.group('company', 'acme', { size: 9 });
    posthog.capture('in group');
    posthog.reset();
    return track;
  },

  async segment({ url, key, past, isFirst }) {
    const { AnalyticsBrowser } = await import('@segment/analytics-next');
    const analytics = AnalyticsBrowser.load({ writeKey: key, cdnURL: url });
    const track = (event) => void analytics.track(event);
    await analytics.page('Home');
    if (!isFirst) return track;
    await analytics.track('signed up', properties);
    await analytics.track('dated', {}, { timestamp: past });
    await analytics.identify('user1', traits);
    await analytics.alias('alias1');
    await analytics.group('acme', { size: 9 });
    await analytics.reset();
    return track;
  },

  async rudderstack(options) {
    const { RudderAnalytics } = await import('@rudderstack/analytics-js/bundled');
    return playRudderStack(new RudderAnalytics(), options);
  },

  // Fetches its plugins, the queue among them, from its vendor.
  async 'rudderstack-plugins'(options) {
    const { RudderAnalytics } = await import('@rudderstack/analytics-js');
    return playRudderStack(new RudderAnalytics(), options);
  },

  async 'rudderstack-beacon'(options) {
    const { RudderAnalytics } = await import('@rudderstack/analytics-js/bundled');
    const useBeacon = { useBeacon: true, beaconQueueOptions: { flushQueueInterval: 500 } };
    return playRudderStack(new RudderAnalytics(), options, useBeacon);
  },

  async 'rudderstack-2'(options) {
    return playRudderStack(await import('rudder-sdk-js'), options);
  },

  async mixpanel({ url, key, past, isFirst }) {
    const { default: mixpanel } = await import('mixpanel-browser');
    mixpanel.init(key, { api_host: url });
    const track = (event) => void mixpanel.track(event);
    mixpanel.track_pageview();
    if (!isFirst) return track;
    mixpanel.track('signed up', properties);
    mixpanel.track('dated', { time: past.getTime() / 1_000 });
    mixpanel.identify('user1');
    mixpanel.people.set(traits);
    mixpanel.set_group('company', 'acme');
    mixpanel.get_group('company', 'acme').set({ size: 9 });
    mixpanel.track('in group');
    mixpanel.reset();
    return track;
  },

  async amplitude({ url, key, past, isFirst }) {
    const amplitude = await import('@amplitude/analytics-browser');
    await amplitude.init(key, { serverUrl: `${url}/2/httpapi` }).promise;
    const track = (event) => amplitude.track(event).promise;
    if (!isFirst) return track;
    amplitude.track('signed up', properties);
    amplitude.track('dated', {}, { time: past.getTime() });
    const plan = new amplitude.Identify();
    for (const name in traits) plan.set(name, traits[name]);
    amplitude.setUserId('user1');
    amplitude.identify(plan);
    amplitude.setGroup('company', 'acme');
    await amplitude.track('in group').promise;
    amplitude.reset();
    return track;
  },

  async 'amplitude-8'({ url, key, past, isFirst }) {
    const { default: amplitude } = await import('amplitude-js');
    const client = amplitude.getInstance();
    const apiEndpoint = `${new URL(url).host}/httpapi`;
    client.init(key, null, { apiEndpoint, forceHttps: url.startsWith('https:') });
    const track = (event) => called((done) => client.logEvent(event, {}, done));
    client.logEvent('[Amplitude] Page Viewed', { '[Amplitude] Page Location': page.url });
    if (!isFirst) return track;
    client.logEvent('signed up', properties);
    client.logEventWithTimestamp('dated', {}, past.getTime());
    const plan = new amplitude.Identify();
    for (const name in traits) plan.set(name, traits[name]);
    client.setUserId('user1');
    client.identify(plan);
    client.setGroup('company', 'acme');
    await track('in group');
    client.setUserId(null);
    client.regenerateDeviceId();
    return track;
  },

  async plausible({ url, key, isFirst }) {
    const plausible = await import('@plausible-analytics/tracker');
    plausible.init({ domain: key, endpoint: `${url}/api/event`, captureOnLocalhost: true });
    const track = (event) => called((callback) => plausible.track(event, { callback }));
    if (isFirst) {
      const revenue = { amount: 12.5, currency: 'EUR' };
      plausible.track('signed up', { props: properties, revenue });
    }
    return track;
  },

  async 'plausible-tracker'({ url, key, isFirst }) {
    const { default: Plausible } = await import('plausible-tracker');
    const plausible = Plausible({ domain: key, apiHost: url, trackLocalhost: true });
    const track = (event) => called((callback) => plausible.trackEvent(event, { callback }));
    plausible.trackPageview();
    if (isFirst) plausible.trackEvent('signed up', { props: properties });
    return track;
  },

  async umami({ url, key, isFirst }) {
    const script = Object.assign(document.createElement('script'), { src: '/umami.js' });
    Object.assign(script.dataset, { websiteId: key, hostUrl: url });
    await called((loaded) => {
      script.onload = loaded;
      document.head.append(script);
    });
    const track = (event) => window.umami.track(event);
    if (!isFirst) return track;
    await window.umami.track('signed up', properties);
    await window.umami.identify(traits);
    return track;
  },

  async openpanel({ url, key, isFirst }) {
    const { OpenPanel } = await import('@openpanel/web');
    const client = new OpenPanel({ clientId: key, apiUrl: url, trackScreenViews: true });
    const track = (event) => client.track(event);
    if (!isFirst) return track;
    await client.track('signed up', properties);
    await client.identify({ profileId: 'user1', firstName: 'Ada', properties: traits });
    await client.setGroup('acme');
    await client.track('in group');
    await client.revenue(12.5);
    client.clear();
    return track;
  },

  async jitsu({ url, key, isFirst }) {
    const { jitsuAnalytics } = await import('@jitsu/js');
    const analytics = jitsuAnalytics({ host: url, writeKey: `${key}:web` });
    const track = (event) => analytics.track(event);
    await analytics.page();
    if (!isFirst) return track;
    await analytics.track('signed up', properties);
    await analytics.identify('user1', traits);
    await analytics.group('acme', { size: 9 });
    await analytics.reset();
    return track;
  },

  async snowplow({ url, key, past, isFirst }) {
    const snowplow = await import('@snowplow/browser-tracker');
    snowplow.newTracker('sp', url, { appId: key });
    const track = (name, data = {}, timestamp = undefined) => {
      const schema = `iglu:com.acme/${name}/jsonschema/1-0-0`;
      snowplow.trackSelfDescribingEvent({ event: { schema, data }, timestamp });
    };
    snowplow.trackPageView({ title: page.title });
    if (!isFirst) return track;
    track('signed_up', properties);
    track('dated', {}, past.getTime());
    snowplow.setUserId('user1');
    track('as_user');
    snowplow.clearUserData();
    snowplow.setUserId(null);
    return track;
  },

  async matomo({ url, key, past, isFirst }) {
    const { default: Matomo } = await import('matomo-tracker-react-native/src/MatomoTracker.js');
    const tracker = new Matomo({ urlBase: url, siteId: key });
    const visitor = { _id: '0123456789abcdef', url: page.url };
    const send = (event, info = {}) => {
      tracker.removeUserInfo();
      const userInfo = { ...visitor, ...info };
      return tracker.trackEvent({ category: 'account', action: event, name: 'text é', userInfo });
    };
    await tracker.trackAction({ name: page.title, userInfo: visitor });
    const track = (event) => send(event, { uid: 'user1' });
    if (!isFirst) return track;
    await tracker.trackEvent({
      ...{ category: 'account', action: 'signed up', name: 'text é', value: 1.5 },
      userInfo: { dimension1: 'x' },
    });
    await send('dated', { cdt: past.getTime() / 1_000 });
    return track;
  },

  async ga4({ url, key, isFirst }) {
    window.minimalAnalytics = { analyticsEndpoint: `${url}/g/collect` };
    const { track } = await import('@minimal-analytics/ga4');
    const { s, i, f, b } = properties;
    track(key, { type: 'page_view' });
    if (isFirst)
      track(key, { type: 'signed up', event: { 'ep.s': s, 'epn.i': i, 'epn.f': f, 'ep.b': b } });
    return (event) => track(key, { type: event });
  },

  async rybbit({ url, key, isFirst }) {
    const { default: rybbit } = await import('@rybbit/js');
    await rybbit.init({ analyticsHost: `${url}/api`, siteId: key });
    const track = (event) => void rybbit.event(event);
    if (!isFirst) return track;
    rybbit.event('signed up', properties);
    rybbit.identify('user1', traits);
    rybbit.event('as user');
    rybbit.clearUserId();
    return track;
  },
};

async function playRudderStack(analytics, { url, key, past, isFirst }, more = {}) {
  analytics.load(key, url, { configUrl: url, ...more });
  const track = (event) => void analytics.track(event);
  await called((done) => analytics.ready(done));
  analytics.page('Home');
  if (!isFirst) return track;
  analytics.track('signed up', properties);
  analytics.track('dated', {}, { originalTimestamp: past.toISOString() });
  analytics.identify('user1', traits);
  analytics.alias('alias1');
  analytics.group('acme', { size: 9 });
  analytics.reset(true);
  return track;
}

/** For the page: loads and plays. */
export async function play({ sdk, past, ...options }) {
  return plays[sdk]({ ...options, past: new Date(past) });
}
