// What changes in a page or a program that uses another vendor's SDK: the lines with this service's address and key.

import type { Of } from './snippets.ts';

export interface VendorSnippet {
  /** The family's name in the project's setting. */
  id: string;
  name: string;
  snippet: (of: Of) => string;
  /** Where programs of servers, or another package, say it in other words. */
  other?: { where: 'On a server' | 'With plausible-tracker'; snippet: (of: Of) => string };
}

/** In the order of the tabs. docs/switch.md says what each family does here and what not. */
export const vendorSnippets: readonly VendorSnippet[] = [
  {
    id: 'posthog',
    name: 'PostHog',
    snippet: ({ origin, key }) => `posthog.init('${key}', { api_host: '${origin}' });`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) => `new PostHog('${key}', { host: '${origin}' });`,
    },
  },
  {
    id: 'segment',
    name: 'Segment',
    snippet: ({ origin, key }) =>
      `AnalyticsBrowser.load({ writeKey: '${key}', cdnURL: '${origin}' });`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) => `new Analytics({ writeKey: '${key}', host: '${origin}' });`,
    },
  },
  {
    id: 'rudderstack',
    name: 'RudderStack',
    snippet: ({
      origin,
      key,
    }) => `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled';

new RudderAnalytics().load('${key}', '${origin}', { configUrl: '${origin}' });`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) => `new Analytics('${key}', { dataPlaneUrl: '${origin}' });`,
    },
  },
  {
    id: 'mixpanel',
    name: 'Mixpanel',
    snippet: ({ origin, key }) => `mixpanel.init('${key}', { api_host: '${origin}' });`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) => `Mixpanel.init('${key}', ${hostOptions(origin)});`,
    },
  },
  {
    id: 'amplitude',
    name: 'Amplitude',
    snippet: ({ origin, key }) => `amplitude.init('${key}', { serverUrl: '${origin}/2/httpapi' });`,
  },
  {
    id: 'plausible',
    name: 'Plausible',
    snippet: ({ origin, key }) => `init({ domain: '${key}', endpoint: '${origin}/api/event' });`,
    other: {
      where: 'With plausible-tracker',
      snippet: ({ origin, key }) => `Plausible({ domain: '${key}', apiHost: '${origin}' });`,
    },
  },
  {
    id: 'umami',
    name: 'Umami',
    snippet: ({ origin, key }) =>
      `<script defer src="https://the-src-that-you-have/script.js" data-website-id="${key}" data-host-url="${origin}"></script>`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) => `umami.init({ websiteId: '${key}', hostUrl: '${origin}' });`,
    },
  },
  {
    id: 'openpanel',
    name: 'OpenPanel',
    snippet: ({ origin, key }) => `new OpenPanel({ clientId: '${key}', apiUrl: '${origin}' });`,
  },
  {
    id: 'jitsu',
    name: 'Jitsu',
    snippet: ({ origin, key }) => `jitsuAnalytics({ host: '${origin}', writeKey: '${key}:web' });`,
  },
  {
    id: 'snowplow',
    name: 'Snowplow',
    snippet: ({ origin, key }) => `newTracker('sp', '${origin}', { appId: '${key}' });`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) =>
        `newTracker({ namespace: 'sp', appId: '${key}' }, { endpoint: '${origin}' });`,
    },
  },
  {
    id: 'matomo',
    name: 'Matomo',
    snippet: ({ origin, key }) => `_paq.push(['setTrackerUrl', '${origin}/matomo.php']);
_paq.push(['setSiteId', '${key}']);`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) => `new MatomoTracker('${key}', '${origin}/matomo.php');`,
    },
  },
  {
    id: 'ga4',
    name: 'GA4',
    snippet: ({ origin, key }) => `window.minimalAnalytics = {
  trackingId: '${key}', analyticsEndpoint: '${origin}/g/collect',
};`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) => `fetch('${origin}/mp/collect?measurement_id=${key}', {
  method: 'POST', body: JSON.stringify({ client_id, events }),
});`,
    },
  },
  {
    id: 'rybbit',
    name: 'Rybbit',
    snippet: ({ origin, key }) =>
      `rybbit.init({ analyticsHost: '${origin}/api', siteId: '${key}' });`,
    other: {
      where: 'On a server',
      snippet: ({ origin, key }) =>
        `new Rybbit({ analyticsHost: '${origin}/api', siteId: '${key}', apiKey: '${key}' });`,
    },
  },
];

function hostOptions(origin: string): string {
  const { host, protocol } = new URL(origin);
  return `{ host: '${host}', protocol: '${protocol.slice(0, -1)}' }`;
}
