// The mail of a report: the same figures in HTML and in plain text, of every form of question, within its bound, and
// nothing in it that a sender of events could make a link or a header of.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  type SharedTile,
  SharedTileSchema,
} from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import {
  type InsightQuerySpecSchema,
  InsightType,
  type QueryResponseSchema,
  SessionMetric,
  TopKQuery_Dimension,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { reportMail } from './report-mail.ts';

type Spec = MessageInitShape<typeof InsightQuerySpecSchema>;
type Answer = MessageInitShape<typeof QueryResponseSchema>;

const days = ['2026-03-28', '2026-03-29'].map((day) => `${day}T00:00:00+01:00`);

function tileOf(title: string, question: Spec, value: Answer, previous?: Answer): SharedTile {
  return create(SharedTileSchema, {
    ...{ id: title, title, question, content: { case: 'insight', value } },
    ...(previous !== undefined && { previous }),
  });
}

const content = {
  ...{ reportName: 'Weekly', projectName: 'Shop', organizationName: 'Shops', boardName: 'Board' },
  ...{ period: '23 March 2026 to 29 March 2026', comparedWith: 'the week before' },
  ...{ isIncomplete: false, leftOut: 0, isTest: false },
  ...{ boardUrl: 'https://app.example.com/p/1', unsubscribeUrl: 'https://app.example.com/r/2' },
};
const mailOf = (tiles: SharedTile[], changes = {}) => reportMail({ ...content, ...changes, tiles });

const segments = (value: number, breakdown: Record<string, string> = {}): Answer => ({
  result: { case: 'segmentation', value: { series: [{ value, breakdown }] } },
});
const topK = (rows: [string, number][]): Answer => ({
  result: {
    case: 'topK',
    value: { rows: rows.map(([dimensionValue, value]) => ({ dimensionValue, value })) },
  },
});
const number = { insightType: InsightType.SEGMENTATION };
const bounces = { ...number, session: { metric: SessionMetric.BOUNCE_RATE } };
const paths: Spec = {
  insightType: InsightType.TOP_K,
  topK: { dimension: TopKQuery_Dimension.PROPERTY, property: '$pathname' },
};
const points = (...values: number[]) => values.map((value) => ({ value }));
const incompleteFrom = timestampFromMs(0);

it.each<[string, Spec, number, number, string]>([
  ['more is good', number, 110, 100, 'good'],
  ['less is bad', number, 90, 100, 'bad'],
  ['a bounce rate that fell is good', bounces, 0.2, 0.25, 'good'],
  ['what rounds to nothing is neither', number, 10_004, 10_000, 'faint'],
  ['nobody can tell of a formula', { ...number, formulas: [{ expression: 'A' }] }, 2, 1, 'faint'],
])('the colour of a change: %s', (_, question, now, before, tone) => {
  const { html } = mailOf([tileOf('Figure', question, segments(now), segments(before))]);
  expect(/<span class="([a-z]+)" style="font-size:12px/.exec(html)?.[1]).toBe(tone);
});

describe('shows', () => {
  it.each<[string, SharedTile, string[]]>([
    [
      'a figure with its change',
      tileOf(
        'Signups',
        { ...number, events: [{ event: { kind: 'sign_up' } }] },
        segments(90),
        segments(100),
      ),
      ['Signups', '90', '−10%'],
    ],
    [
      'a share and a duration',
      tileOf('Bounces', bounces, segments(0.253), segments(0.2)),
      ['25%', '+26%'],
    ],
    [
      'the groups of a segment',
      tileOf(
        'Buyers',
        { ...number, breakdowns: [{ property: 'segment.1' }] },
        segments(7, { 'segment.1': 'not in' }),
      ),
      ['not in the segment', '7'],
    ],
    [
      'a tile without a title by its form, and values in the words of the pages',
      tileOf(
        '',
        { ...paths, topK: { dimension: TopKQuery_Dimension.PROPERTY, property: '$deviceType' } },
        topK([['mobile', 3]]),
      ),
      ['Top values', 'Mobile'],
    ],
    [
      'a language by its name',
      tileOf(
        'Readers',
        { ...number, breakdowns: [{ property: '$language' }] },
        segments(7, { $language: 'de-DE' }),
      ),
      ['German (de-DE)'],
    ],
    [
      'groups with the change of each',
      tileOf(
        'Pages',
        paths,
        topK([
          ['/a', 30],
          ['/caf%C3%A9', 10],
        ]),
        topK([
          ['/caf%C3%A9', 5],
          ['/a', 30],
        ]),
      ),
      ['/\u200ba', '30', '0.0%', '/\u200bcafé', '10', '+100%'],
    ],
    [
      'a course with the change of each day, and what is not complete',
      tileOf(
        'Course',
        { insightType: InsightType.TRENDS, events: [{ event: { kind: 'page_view' } }] },
        {
          bucketLabels: days,
          result: { case: 'trends', value: { series: [{ points: points(4, 8), incompleteFrom }] } },
        },
        { result: { case: 'trends', value: { series: [{ points: points(2, 8) }] } } },
      ),
      ['Sat 28 Mar', '4', '+100%', 'Sun 29 Mar', 'The last figures are not complete'],
    ],
    [
      'the steps of a funnel',
      tileOf(
        'Way',
        { insightType: InsightType.FUNNEL },
        {
          result: {
            case: 'funnel',
            value: {
              series: [
                {
                  steps: [
                    { eventKind: 'page_view', total: 200 },
                    { eventKind: 'coupon', total: 7, isOptional: true },
                    { eventKind: 'purchase', total: 30 },
                  ],
                  incompleteFrom,
                },
              ],
            },
          },
        },
      ),
      [
        ...['1. Page view', '200', '2. Coupon (may be skipped)', '7', '3. Purchase', '30', '15%'],
        'their time is not over',
      ],
    ],
    [
      'a retention',
      tileOf(
        'Back',
        { insightType: InsightType.RETENTION },
        {
          result: {
            case: 'retention',
            value: { series: [{ means: [{ size: 10, returned: 4, share: 0.4 }] }] },
          },
        },
      ),
      ['At first', '4', '10', '40%'],
    ],
    [
      'a lifecycle',
      tileOf(
        'Life',
        { insightType: InsightType.LIFECYCLE },
        {
          bucketLabels: days,
          result: {
            case: 'lifecycle',
            value: { newUsers: points(11, 12), returningUsers: points(13, 14) },
          },
        },
      ),
      ['Sat 28 Mar', '11', '13', 'Sun 29 Mar', '12', '14'],
    ],
    [
      'a stickiness',
      tileOf(
        'Sticky',
        { insightType: InsightType.STICKINESS },
        {
          result: { case: 'stickiness', value: { points: [{ buckets: 1, value: 21 }] } },
        },
      ),
      ['Active 1 time', '21'],
    ],
    [
      'users by the number of their events',
      tileOf(
        'Often',
        { insightType: InsightType.STICKINESS, eventsPerUser: { bounds: [1, 2, 6] } },
        {
          result: {
            case: 'stickiness',
            value: {
              points: [
                { events: 1, eventsTo: 1, value: 21 },
                { events: 2, eventsTo: 5, value: 12 },
                { events: 6, value: 3 },
              ],
            },
          },
        },
      ),
      ['1 event', '21', '2 to 5 events', '12', '6 or more events', '3'],
    ],
    [
      'the ways of a flow',
      tileOf(
        'Ways',
        { insightType: InsightType.USER_FLOW },
        {
          result: {
            case: 'userFlow',
            value: { links: [{ source: '0:page_view', target: '1:!others', value: 22n }] },
          },
        },
      ),
      ['1. page_view → 2. all others', '22'],
    ],
  ])('%s', (_, tile, figures) => {
    const { text, html } = mailOf([tile]);
    for (const figure of figures) {
      expect(text).toContain(figure);
      expect(html).toContain(figure);
    }
  });

  it('persons to members, and nobody to others', () => {
    const question: Spec = {
      insightType: InsightType.TOP_K,
      topK: { dimension: TopKQuery_Dimension.USER },
    };
    const profile = { id: 'p', externalId: 'ada' };
    const answer = (fields: object): Answer => ({
      result: { case: 'topK', value: { rows: [{ value: 3, ...fields }] } },
    });
    expect(mailOf([tileOf('Top', question, answer({ profile }))]).text).toContain('ada: 3');
    expect(mailOf([tileOf('Top', question, answer({}))]).text).toContain('User 1: 3');
  });

  it('what failed, what is empty, what was left out and what is not complete', () => {
    const error = create(SharedTileSchema, {
      ...{ title: 'Broken', question: number },
      content: { case: 'error', value: { code: 'internal', message: 'SELECT secret' } },
    });
    const { text, html } = mailOf([error, tileOf('Nobody', paths, topK([]))], {
      ...{ isIncomplete: true, leftOut: 1 },
    });
    for (const shown of [text, html]) {
      expect(shown).toContain('This question could not be answered.');
      expect(shown).toContain('Nothing happened.');
      expect(shown).toContain('Not all events of this time were counted');
      expect(shown).toContain('One earlier report was left out');
      expect(shown).not.toContain('secret');
    }
    expect(mailOf([]).text).toContain('The board is empty.');
  });
});

it('has at most 90,000 bytes, and says how many parts have no room', () => {
  const rows = Array.from({ length: 100 }, (_, index): [string, number] => [
    `/${'<&>"\u{1F600}'.repeat(20)}${index}`,
    index + 1,
  ]);
  const { html, text } = mailOf(
    Array.from({ length: 100 }, (_, index) => tileOf(`Tile ${index}`, paths, topK(rows))),
  );
  expect(Buffer.byteLength(html)).toBeGreaterThan(60_000);
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(90_000);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(90_000);
  expect(text).toMatch(/\d+ more parts have no room here/);
  expect(text).toContain('69 more rows are on the board.');
});

it.each([
  'https://evil.example/x?y=1',
  'www.evil.example',
  'eve@evil.example',
  'a\r\nBcc: eve@evil.example',
  '"><img src=x onerror=alert(1)>',
  '\u202egro.live',
  '[x](//evil.example)',
  'evil\u3002example',
  'evil\uff0eexample',
  'evil\uff61example',
  'evil\u2024example',
])('%j is no link, no markup and no header', (value) => {
  const question: Spec = { ...number, breakdowns: [{ property: 'x' }] };
  const text = create(SharedTileSchema, { title: value, content: { case: 'markdown', value } });
  const revenue = tileOf(
    'Money',
    { insightType: InsightType.REVENUE },
    {
      bucketLabels: days,
      result: { case: 'revenue', value: { series: [{ points: points(1, 2), currency: value }] } },
    },
  );
  const ofSegment: Spec = {
    insightType: InsightType.TOP_K,
    topK: { dimension: TopKQuery_Dimension.PROPERTY, property: 'segment.x' },
  };
  const top = tileOf('Top', ofSegment, topK([[value, 1]]));
  const tiles = [tileOf(value, question, segments(1, { x: value })), text, revenue, top];
  const mail = mailOf(tiles, { reportName: value, boardName: value, projectName: value });
  const own = ['https://app.example.com/p/1', 'https://app.example.com/r/2'];
  for (const shown of [mail.text, mail.html.replace(/<style>.*?<\/style>/s, '')]) {
    let rest = shown;
    for (const url of own) rest = rest.replaceAll(url, '');
    expect(rest).not.toMatch(/:\/\/|evil[.\u3002\uff0e\uff61\u2024]example|@evil|gro\.live|\u202e/);
  }
  expect(mail.subject).not.toMatch(/[\p{Cc}\u2028\u2029]|evil\.|:\/\//u);
  // Values of attributes are quoted, and hold no quote.
  expect(mail.html.replace(/"[^"]*"/g, '')).not.toMatch(/<img|<[^>]*onerror/);
});
