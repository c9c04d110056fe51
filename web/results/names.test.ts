// What series are called, and which of them a chart draws.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  FunnelQuery_Order,
  InsightQuerySpecSchema,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { drawnSeries, questionName, seriesName, valueName } from './names.ts';

const specOf = (more: MessageInitShape<typeof InsightQuerySpecSchema>) =>
  create(InsightQuerySpecSchema, {
    events: [{ event: { kind: 'signup' } }, { event: { kind: 'page_view' } }],
    formulas: [{ expression: 'A / B' }, { expression: 'A * 100', displayName: 'Times' }],
    ...more,
  });
const whole = { eventIndex: 0, breakdown: {}, isOthers: false };

it('a formula is called by its name, or by its text', () => {
  const spec = specOf({});
  expect(seriesName(spec, { ...whole, formulaIndex: 0 })).toBe('A / B');
  expect(seriesName(spec, { ...whole, formulaIndex: 1 })).toBe('Times');
  expect(seriesName(spec, whole)).toBe('Signup');
  expect(questionName('Trends', spec)).toBe('Trends: A / B, Times');
});

it('a funnel is called by its steps, of which one may be any event', () => {
  const events = [{ event: { kind: 'page_view' } }, {}];
  const nameOf = (insightType: InsightType, more = {}) =>
    questionName('Form', specOf({ insightType, events, formulas: [], ...more }));
  expect(nameOf(InsightType.FUNNEL)).toBe('Form: Page view → Any event');
  const funnel = { order: FunnelQuery_Order.ANY };
  expect(nameOf(InsightType.FUNNEL, { funnel })).toBe('Form: Page view, Any event');
  expect(nameOf(InsightType.RETENTION)).toBe('Form: Page view → Any event');
  expect(nameOf(InsightType.TRENDS)).toBe('Form: Page view, Events');
});

it('by groups it has the name of its group, too', () => {
  const spec = specOf({ breakdowns: [{ property: 'plan' }] });
  const pro = { ...whole, breakdown: { plan: 'pro' } };
  expect(seriesName(spec, { ...pro, formulaIndex: 1 })).toBe('Times, pro');
  expect(seriesName(spec, { ...whole, isOthers: true, formulaIndex: 0 })).toBe('A / B, All others');
  expect(seriesName(spec, pro)).toBe('1. Signup, pro');
});

it('several kinds are named one after the other', () => {
  const spec = specOf({ events: [{ event: { kinds: ['signup', 'page_view'] } }], formulas: [] });
  expect(seriesName(spec, whole)).toBe('Signup or Page view');
});

it('where there are formulas they alone are drawn', () => {
  expect(drawnSeries([{}, { formulaIndex: 0 }])).toEqual([{ formulaIndex: 0 }]);
  expect(drawnSeries([{}, {}])).toHaveLength(2);
});

it('revenue is named by its currency, and by its group', () => {
  const [insightType, formulas] = [InsightType.REVENUE, []];
  const spec = specOf({ insightType, formulas, events: [{ event: { kind: 'purchase' } }] });
  expect(seriesName(spec, { ...whole, currency: 'EUR' })).toBe('EUR');
  expect(seriesName(spec, whole)).toBe('no currency');
  expect(questionName('Revenue', spec)).toBe('Revenue: Purchase: revenue');
  const split = specOf({ insightType, formulas: [], breakdowns: [{ property: 'plan' }] });
  expect(seriesName(split, { ...whole, currency: 'EUR', isOthers: true })).toBe(
    '1. Signup: revenue, EUR · All others',
  );
});

it('values of the service are said as titles, countries and languages by their names', () => {
  expect(valueName('$channel', 'organic search')).toBe('Organic search');
  expect(valueName('$deviceType', 'mobile')).toBe('Mobile');
  expect(valueName('plan', 'pro')).toBe('pro');
  expect(valueName('$country', 'DE')).toBe('Germany');
  expect(valueName('$language', 'de')).toBe('German (de)');
  expect(valueName('$language', 'de-DE')).toBe('German (de-DE)');
  expect(valueName('$language', 'zz-!!')).toBe('zz-!!');
  expect(valueName('$language', '')).toBe('(empty)');
  expect(valueName('$channel', undefined)).toBe('(none)');
});
