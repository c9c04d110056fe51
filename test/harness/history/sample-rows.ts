// What the samples of each family must be once they are stored: worked out by hand from the samples and from what the
// formats say of units, zones and ids.

import { uuidV5 } from '../../../ingest/validation/text/uuid.ts';

export interface ExpectedRow {
  eventId: string;
  kind: string;
  distinctId: string;
  sessionId: string;
  occurTime: string;
  auto: Record<string, string>;
  custom: Record<string, unknown>;
}

export interface SampleFamily {
  family: string;
  file: string;
  args?: readonly string[];
  rows: readonly ExpectedRow[];
}

const day = '2026-03-04T';
const text = (stringValue: string) => ({ stringValue });
const int = (value: number) => ({ intValue: String(value) });
const double = (doubleValue: number) => ({ doubleValue });
const yes = { boolValue: true };
const shop = 'https://shop.example.com/kettles';
const user = 'customer-17';

/** `ids`: of a project. */
export function sampleFamilies(projectId: string): SampleFamily[] {
  const id = (family: string, key: string): string =>
    uuidV5(projectId, JSON.stringify([family, key]));
  const session = (family: string, key: string): string =>
    uuidV5(projectId, JSON.stringify([family, 'session', key]));
  const visit = (family: string, person: string, start: string): string =>
    uuidV5(projectId, JSON.stringify([family, 'visit', person, Date.parse(`${day}${start}Z`)]));
  const row = (
    [eventId, kind, distinctId, sessionId, time]: readonly [string, string, string, string, string],
    auto: Record<string, string> = {},
    custom: Record<string, unknown> = {},
  ): ExpectedRow => ({
    ...{ eventId, kind, distinctId, sessionId, occurTime: `${day}${time}Z`, auto, custom },
  });
  return [
    posthogSample(row),
    mixpanelSample(row, id, visit),
    amplitudeSample(row, session, visit),
    segmentSample(row, id, visit),
    rudderSample(row, session),
    ga4Sample(row, id, session),
    snowplowSample(row, id),
    matomoSample(row, id, session),
    umamiSample(row),
  ];
}

type MakeRow = (
  head: readonly [string, string, string, string, string],
  auto?: Record<string, string>,
  custom?: Record<string, unknown>,
) => ExpectedRow;
type MakeId = (family: string, key: string) => string;
type MakeVisit = (family: string, person: string, start: string) => string;

function posthogSample(row: MakeRow): SampleFamily {
  const device = '0195612a-7aff-7000-8000-00000000beef';
  const visit = '0195612a-7b00-7c11-8d22-3e4f5a6b7c8d';
  return {
    ...{ family: 'posthog', file: 'posthog-batch.jsonl' },
    rows: [
      row(
        ['0195612a-7c10-7a31-9c55-0a1b2c3d4e01', 'page_view', device, visit, '09:15:00.123'],
        { $url: `${shop}?utm_source=news`, $name: '$pageview', $utmSource: 'news' },
        {
          ...{ plan: text('free'), items: int(2), ratio: double(0.5), beta: yes },
          tags: text('["a","b"]'),
        },
      ),
      row(['0195612b-0d4c-7b20-8e10-0a1b2c3d4e02', 'identify', user, visit, '09:15:37']),
      row(
        ['0195612b-4a00-7c30-8f11-0a1b2c3d4e03', 'order_placed', user, visit, '09:15:52.700'],
        { $name: 'Order placed' },
        { amount: double(39.9), currency: text('EUR') },
      ),
    ],
  };
}

function mixpanelSample(row: MakeRow, id: MakeId, visit: MakeVisit): SampleFamily {
  const device = '$device:18d3c0ffee-0a';
  const key = (name: string, person: string, insertId: string): string =>
    id('mixpanel', JSON.stringify([name, person, insertId, '2026-03-04']));
  return {
    ...{ family: 'mixpanel', file: 'mixpanel-utc.jsonl' },
    rows: [
      row(
        [
          key('Signed Up', device, '1f7a90b3-66c2-4e0d-8b15-2a9d0c7e4b71'),
          ...(['signed_up', device, visit('mixpanel', device, '09:15:00'), '09:15:00'] as const),
        ],
        { $browser: 'Firefox', $country: 'DE', $city: 'Berlin', $pathname: '/join' },
        { items: int(2), ratio: double(0.5), beta: yes },
      ),
      row([
        // The id before the merge, which a later export has too, is the key's.
        key('Order placed', device, 'kzWmQrTnBvXaLdPe'),
        ...(['order_placed', user, visit('mixpanel', user, '09:15:37'), '09:15:52'] as const),
      ]),
    ],
  };
}

function amplitudeSample(row: MakeRow, session: MakeId, visit: MakeVisit): SampleFamily {
  const device = 'b7c2f0de-1111-4222-8333-444455556666';
  const ofDevice = session('amplitude', `${device}/1772615699870`);
  return {
    ...{ family: 'amplitude', file: 'amplitude-export.zip' },
    rows: [
      row(
        ['9b2f8a10-0000-4000-8000-000000000001', 'page_view', device, ofDevice, '09:15:00.123'],
        {
          ...{ $browser: 'Firefox', $browserVersion: '136', $os: 'Mac', $country: 'DE' },
          ...{ $region: 'Land Berlin', $url: shop, $name: '[Amplitude] Page Viewed' },
        },
        { items: int(2), ratio: double(0.5), beta: yes },
      ),
      // Out of a session: not all such events are one visit.
      row([
        ...(['8e41c7d2-3b5a-4f60-9d11-5c2e7a90b1f3', 'order_placed', user] as const),
        ...([visit('amplitude', user, '09:15:52.700'), '09:15:52.700'] as const),
      ]),
    ],
  };
}

function segmentSample(row: MakeRow, id: MakeId, visit: MakeVisit): SampleFamily {
  const device = 'f3c9a1de-1111-4222-8333-444455556666';
  return {
    ...{ family: 'segment', file: 'segment-s3.jsonl' },
    rows: [
      row(
        [
          id('segment', 'ajs-next-1772615700123-0e5b4f8a-4a1c-4a57-9d22-6a1f0c9b7d10'),
          ...(['page_view', device] as const),
          // The device's clock is five minutes ahead.
          ...([visit('segment', device, '09:15:00.223'), '09:15:00.223'] as const),
        ],
        {
          ...{ $browser: 'Firefox', $os: 'Linux', $utmSource: 'news', $locale: 'de-DE' },
          ...{ $timezone: 'Europe/Berlin', $pathname: '/kettles' },
        },
        { title: text('Kettles') },
      ),
      row(
        [
          id('segment', 'ajs-next-1772615752700-2e5b4f8a-4a1c-4a57-9d22-6a1f0c9b7d12'),
          ...(['order_placed', user] as const),
          ...([visit('segment', user, '09:15:52.800'), '09:15:52.800'] as const),
        ],
        { $name: 'Order placed' },
        { amount: double(39.9), items: text('[{"sku":"K-1"}]') },
      ),
    ],
  };
}

function rudderSample(row: MakeRow, session: MakeId): SampleFamily {
  const device = 'f3c9a1de-1111-4222-8333-444455556666';
  return {
    ...{ family: 'rudderstack', file: 'rudderstack-s3.jsonl' },
    rows: [
      row(
        [
          ...(['0e5b4f8a-4a1c-4a57-9d22-6a1f0c9b7d10', 'order_placed', device] as const),
          ...([session('rudderstack', `${device}/1772615699870`), '09:15:00.223'] as const),
        ],
        { $url: shop },
        { amount: double(39.9) },
      ),
    ],
  };
}

function ga4Sample(row: MakeRow, id: MakeId, session: MakeId): SampleFamily {
  const visitor = '1845630273.1772615699';
  const visit = session('ga4', `${visitor}/1772615699`);
  const key = (micros: string, name: string, ordering: string, index: string): string =>
    id(
      'ga4',
      JSON.stringify(['9876543210', visitor, micros, name, '1772615700100', ordering, index]),
    );
  return {
    ...{ family: 'ga4', file: 'ga4-events.jsonl' },
    rows: [
      row(
        [
          key('1772615700123456', 'page_view', '1', '1'),
          ...(['page_view', visitor, visit, '09:15:00.123'] as const),
        ],
        {
          ...{ $browser: 'Firefox', $os: 'Windows', $country: 'DE', $city: 'Berlin' },
          ...{ $url: `${shop}?utm_source=news&x=1`, $utmSource: 'news' },
        },
        { ga_session_number: int(1), session_engaged: text('1'), title: text('Kettles') },
      ),
      // The same moment in the same batch is another event.
      row([
        key('1772615700123456', 'session_start', '1', '2'),
        ...(['session_start', visitor, visit, '09:15:00.123'] as const),
      ]),
      row(
        [
          key('1772615752700000', 'purchase', '2', '1'),
          ...(['purchase', user, visit, '09:15:52.700'] as const),
        ],
        {},
        { amount: double(39.9), currency: text('EUR'), order_id: text('T-1001') },
      ),
    ],
  };
}

function snowplowSample(row: MakeRow, id: MakeId): SampleFamily {
  const device = 'b7c2f0de-1111-4222-8333-444455556666';
  const visit = '6f0a11c2-0d7e-4c0b-9d36-55aa00bb11cc';
  const key = (last: string, fingerprint: string): string =>
    id('snowplow', JSON.stringify([`2d9b6a40-7c1e-4f38-b0a5-91e3d7c2f50${last}`, fingerprint]));
  return {
    ...{ family: 'snowplow', file: 'snowplow-enriched.tsv' },
    rows: [
      row(
        [
          key('1', '0f3c9a1b7d2e4856a1b2c3d4e5f60718'),
          ...(['page_view', device, visit, '09:15:00.223'] as const),
        ],
        { $browser: 'Firefox', $os: 'Linux', $country: 'DE', $city: 'Berlin', $url: shop },
        { context_web_page: text('{"id":"3b7a0a55-0c0c-4d7e-8a3b-6a7f2d0e9c11"}') },
      ),
      row(
        [
          key('2', '1a2b3c4d5e6f70819293a4b5c6d7e8f9'),
          ...(['order_placed', user, visit, '09:15:00.223'] as const),
        ],
        {},
        { amount: double(39.9), items: int(2), beta: yes },
      ),
      row(
        [
          key('3', '9f8e7d6c5b4a39281706f5e4d3c2b1a0'),
          ...(['Play', device, visit, '09:15:00.223'] as const),
        ],
        {},
        { category: text('Video'), label: text('Intro'), value: double(1.5) },
      ),
    ],
  };
}

function matomoSample(row: MakeRow, id: MakeId, session: MakeId): SampleFamily {
  const visitor = '9f3ac01b77de2a45';
  const visit = session('matomo', '1/4711');
  const key = (...parts: string[]): string => id('matomo', JSON.stringify(['1', ...parts]));
  return {
    ...{ family: 'matomo', file: 'matomo-visits.json' },
    rows: [
      // The site's clock is an hour ahead of UTC.
      row(
        [key('90017'), 'page_view', visitor, visit, '09:15:00'],
        {
          $url: shop,
          $browser: 'Firefox',
          $country: 'DE',
          $city: 'Berlin',
          $deviceType: 'desktop',
        },
        { title: text('Kettles') },
      ),
      row(
        [key('90018'), 'Play', visitor, visit, '09:15:37'],
        {},
        { category: text('Video'), name: text('Intro'), value: double(1.5) },
      ),
      row(
        [key('goal', '4711', '90018', '2'), 'goal', visitor, visit, '09:15:37'],
        {},
        { goal_name: text('Bought'), amount: double(39.9) },
      ),
    ],
  };
}

function umamiSample(row: MakeRow): SampleFamily {
  const visitor = '5a0d8f7e-1111-5222-8333-444455556666';
  const visit = '77c1b2a3-1111-5222-8333-444455556666';
  return {
    ...{ family: 'umami', file: 'umami-cloud.zip' },
    rows: [
      row(
        ['0c9be1aa-1111-4222-8333-444455556601', 'page_view', visitor, visit, '09:15:00'],
        {
          ...{ $url: `${shop}?utm_source=news`, $referrer: 'https://www.example.org/' },
          ...{ $browser: 'firefox', $country: 'DE', $region: 'BE', $deviceType: 'desktop' },
        },
        { title: text('Kettles, all of them') },
      ),
      row(
        ['0c9be1aa-1111-4222-8333-444455556602', 'order_placed', user, visit, '09:15:52'],
        { $name: 'order placed' },
        { amount: double(39.9), beta: yes, title: text('Kettles "blue"') },
      ),
    ],
  };
}
