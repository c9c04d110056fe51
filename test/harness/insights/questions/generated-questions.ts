// Generated questions: every form, aggregation, operator, source, unit, metric and node in turn, over drawn ranges.

import { dayMs } from '../../../../platform/clock.ts';
import {
  autoProperties,
  customProperties,
  hostileProperties,
  hostileTexts,
  kinds,
  traits,
} from '../project/catalogue.ts';
import type { GeneratedProject } from '../project/generated-project.ts';
import { allZones, lastSureMs, type Season } from '../project/seasons.ts';
import { createDraw, type Draw } from '../random.ts';
import { createDeck, type Deal } from './deck.ts';
import type { EventFilter, Filter } from './event-filter.ts';
import {
  type Aggregation,
  aggregations,
  type EventQuery,
  type FilterGroup,
  type Question,
  readsProperty,
  type SessionMetric,
  type Unit,
} from './question.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** Those by which the greatest groups are ranked. */
export const topMetrics = aggregations.filter(
  (one) => one !== 'SUM_PER_USER' && one !== 'AVG_PER_USER',
);
export const units: readonly Unit[] = ['MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH'];
export const sessionMetrics: readonly SessionMetric[] = [
  'SESSIONS',
  'AVG_DURATION',
  'BOUNCE_RATE',
  'ENTRY',
  'EXIT',
  'AVG_EVENTS_PER_SESSION',
];
export const comparisons = [
  ...(['PREVIOUS_PERIOD', 'PREVIOUS_WEEK', 'PREVIOUS_MONTH', 'PREVIOUS_YEAR'] as const),
];
export const operators = [
  ...['EQUALS', 'NOT_EQUALS', 'CONTAINS', 'NOT_CONTAINS', 'IS_SET', 'IS_NOT_SET', 'LTE', 'GTE'],
  ...['LT', 'GT', 'IN', 'NOT_IN', 'BETWEEN', 'NOT_BETWEEN'],
];
export const sources = ['AUTO', 'CUSTOM', 'PROFILE'] as const;
export const forms = [
  ...(['TRENDS', 'SEGMENTATION', 'TRENDS', 'FUNNEL', 'RETENTION', 'USER_FLOW', 'TOP_K'] as const),
  ...(['LIFECYCLE', 'STICKINESS', 'SESSION_TRENDS', 'SESSION_SEGMENTATION', 'TOP_K'] as const),
  ...(['SEGMENTATION', 'FUNNEL', 'RETENTION', 'TOP_K', 'TRENDS', 'FUNNEL', 'USER_FLOW'] as const),
];

const numbers = [
  '0',
  '42',
  '-7',
  '1.5',
  '33',
  '9007199254740993',
  '18.5',
  '0.125',
  '1e21',
  '100',
  '-20',
];
const texts = ['42', 'pro', 'true', '', 'Chrome', '2026-01-02T03:04:05Z', '0', '0.1', '/', 'free'];
const parts = ['o', '4', 'PRO', 'ünï', 'T', '/', ':', '-', "'", '\\', 'e', '%'];

export class QuestionSource {
  readonly #draw: Draw;
  readonly #project: GeneratedProject;
  readonly #form: Deal<(typeof forms)[number]>;
  readonly #aggregation: Deal<Aggregation>;
  readonly #unit: Deal<Unit>;
  readonly #metric: Deal<SessionMetric>;
  readonly #topMetric: Deal<Aggregation>;
  readonly #userMetric: Deal<Aggregation>;
  readonly #dimension: Deal<'PROPERTY' | 'EVENT_KIND' | 'USER'>;
  readonly #operator: Deal<string>;
  readonly #source: Deal<(typeof sources)[number]>;
  readonly #breakdownSource: Deal<(typeof sources)[number]>;
  readonly #nodeKind: Deal<'EVENT_KIND' | 'PROPERTY'>;
  readonly #order: Deal<'ORDERED' | 'ANY' | 'STRICT'>;
  readonly #compare: Deal<NonNullable<Question['compare']>>;
  readonly #touch: Deal<'FIRST' | 'EVERY'>;
  readonly #first: Deal<'IN_RANGE' | 'EVER' | 'RECURRING'>;
  readonly #weekStart: Deal<number>;

  constructor(seed: number, project: GeneratedProject) {
    this.#draw = createDraw(seed);
    this.#project = project;
    this.#form = createDeck(this.#draw, forms);
    // Those that are dearer to get wrong come twice.
    this.#aggregation = createDeck(this.#draw, [...aggregations, ...aggregations.slice(7)]);
    this.#unit = createDeck(this.#draw, units);
    this.#metric = createDeck(this.#draw, sessionMetrics);
    this.#topMetric = createDeck(this.#draw, topMetrics);
    this.#userMetric = createDeck(
      this.#draw,
      topMetrics.filter((one) => one !== 'UNIQUE_USERS' && one !== 'PER_USER_AVG'),
    );
    this.#dimension = createDeck(this.#draw, [
      'PROPERTY',
      'EVENT_KIND',
      'USER',
      'PROPERTY',
      'EVENT_KIND',
    ] as const);
    this.#operator = createDeck(this.#draw, operators);
    this.#source = createDeck(this.#draw, sources);
    this.#breakdownSource = createDeck(this.#draw, sources);
    this.#order = createDeck(this.#draw, ['ORDERED', 'ANY', 'STRICT'] as const);
    this.#nodeKind = createDeck(this.#draw, ['EVENT_KIND', 'PROPERTY'] as const);
    this.#compare = createDeck(this.#draw, comparisons);
    this.#touch = createDeck(this.#draw, ['FIRST', 'EVERY', 'EVERY', 'EVERY'] as const);
    // Drawn apart, so that it changes none of the others.
    this.#weekStart = createDeck(createDraw(seed + 2), [0, 7, 6, 7, 2, 3, 4, 5]);
    this.#first = createDeck(this.#draw, ['IN_RANGE', 'EVER', 'RECURRING'] as const);
  }

  question(): Question {
    const question = this.#uncompared();
    // How far a range has come that has not ended, the clock of the machine decides.
    const isOver = question.toMs < Date.now();
    if (question.type === 'USER_FLOW' || !isOver || this.#draw.chance(0.85)) return question;
    return { ...question, compare: this.#compare() };
  }

  #uncompared(): Question {
    const question = this.#untouched();
    const { events = [], breakdowns = [], session } = question;
    const has = (...some: readonly Aggregation[]): boolean =>
      events.some(({ aggregation = 'TOTAL' }) => some.includes(aggregation));
    const isOfValues = question.type === 'TRENDS' || question.type === 'SEGMENTATION';
    if (!isOfValues || session || breakdowns.length === 0) return question;
    if (!has('UNIQUE_USERS', 'PER_USER_AVG') || has('SUM_PER_USER', 'AVG_PER_USER'))
      return question;
    return { ...question, touch: this.#touch() };
  }

  #untouched(): Question {
    const draw = this.#draw;
    const form = this.#form();
    const isVisits = form === 'SESSION_TRENDS' || form === 'SESSION_SEGMENTATION';
    const type = form === 'SESSION_TRENDS' ? 'TRENDS' : isVisits ? 'SEGMENTATION' : form;
    const question: Question = { type, ...this.#range(form), ...this.#conditions() };
    if (draw.chance(0.3)) question.includeCookieless = true;
    if (draw.chance(0.25)) question.asOfMs = draw.pick(this.#project.cutsMs);
    const takesBreakdowns = !['USER_FLOW', 'TOP_K'].includes(type);
    if (takesBreakdowns && draw.chance(0.6)) Object.assign(question, this.#breakdowns());
    if (isVisits) {
      const scope = draw.chance(0.6) ? { scope: this.#eventFilter(0.2) } : {};
      return { ...question, session: { metric: this.#metric(), ...scope } };
    }
    const own = this.#ownPart(type);
    const isByDays = own.rollingDays !== undefined || own.events?.some((one) => one.rollingDays);
    if (!isByDays) return { ...question, ...own };
    const { fromMs, toMs } = this.#wholeDays(this.#draw.pick(this.#project.seasons));
    return {
      ...question,
      ...own,
      granularity: 'DAY',
      fromMs: fromMs + this.#draw.below(dayMs / 2),
      toMs,
    };
  }

  #ownPart(type: Question['type']): Partial<Question> {
    const draw = this.#draw;
    switch (type) {
      case 'TRENDS':
      case 'SEGMENTATION':
        if (type === 'TRENDS' && draw.chance(0.55)) return this.#windows();
        return this.#values();
      case 'FUNNEL':
        return {
          ...this.#funnel(),
          ...(draw.chance(0.7) && {
            conversionWindowMs: draw.pick([
              1_000,
              8_000,
              10 * minuteMs,
              hourMs,
              3 * dayMs,
              366 * dayMs,
            ]),
          }),
        };
      case 'RETENTION':
        return {
          events: this.#several(1, 2, () => ({ event: this.#eventFilter(0.2) })),
          ...this.#retention(),
        };
      case 'LIFECYCLE':
        return { events: [{ event: this.#eventFilter(0.2) }] };
      case 'STICKINESS':
        return {
          events: [{ event: this.#eventFilter(0.2) }],
          ...(draw.chance(0.5) && { cumulative: true }),
        };
      case 'USER_FLOW':
        return { userFlow: this.#userFlow(), ...this.#flowEnds() };
      case 'TOP_K':
        return { topK: this.#topK() };
      case 'REVENUE':
        throw new Error('revenue-questions.ts asks for it');
      default: {
        const unknown: never = type;
        throw new Error(`no such question: ${String(unknown)}`);
      }
    }
  }

  #funnel(): Partial<Question> {
    const draw = this.#draw;
    const events = this.#several(2, 4, () => ({ event: this.#eventFilter(0.2) }));
    const includeStepTiming = draw.chance(0.7);
    if (draw.chance(0.25)) return { events, includeStepTiming };
    const order = this.#order();
    const overTime = draw.chance(0.4);
    const exclusion = () => {
      const fromStep = 1 + draw.below(events.length - 1);
      const toStep = fromStep + 1 + draw.below(events.length - fromStep);
      const places = order === 'ANY' || draw.chance(0.4) ? {} : { fromStep, toStep };
      return { event: this.#eventFilter(0.3), ...places };
    };
    return {
      events,
      includeStepTiming: includeStepTiming && !overTime,
      funnel: {
        ...{ order, overTime },
        ...(order !== 'STRICT' &&
          draw.chance(0.6) && { exclusions: this.#several(1, 2, exclusion) }),
        ...(draw.chance(0.6) && {
          holdProperty: draw.chance(0.5) ? '$sessionId' : this.#breakdown().replace('profile.', ''),
        }),
        ...(draw.chance(0.4) && { reentry: 'FIRST' }),
      },
    };
  }

  #retention(): Partial<Question> {
    const draw = this.#draw;
    if (draw.chance(0.1)) return {};
    const rolling24h = draw.chance(0.5);
    const first = this.#first();
    const retention = { first, ...(draw.chance(0.4) && { unbounded: true }) };
    if (!rolling24h) return { retention };
    const { fromMs, toMs } = this.#wholeDays(draw.pick(this.#project.seasons));
    const range = { fromMs: fromMs + draw.below(dayMs), toMs: toMs + draw.below(3 * dayMs) };
    return { retention: { ...retention, rolling24h }, granularity: 'DAY', ...range };
  }

  #values(): Partial<Question> {
    const ofUsers = this.#draw.chance(0.25);
    const events = this.#several(1, 4, () => this.#series(ofUsers));
    if (this.#draw.chance(0.6)) return { events };
    const formulas = this.#several(1, 2, () => ({ expression: this.#formula(events.length, 3) }));
    return { events, formulas };
  }

  /** Users of more than each bucket. */
  #windows(): Partial<Question> {
    const draw = this.#draw;
    const aggregation = 'UNIQUE_USERS' as const;
    const events = this.#several(1, 2, () => ({ event: this.#eventFilter(0.2), aggregation }));
    const own = { events, breakdowns: [], formulas: [{ expression: 'A / A * 2' }] };
    if (draw.chance(0.5)) {
      // One of two adds up numbers, and nothing else is drawn for it.
      const sum = { aggregation: 'SUM', aggregationProperty: 'amount' } as const;
      const each = events.map((one, at) => (at === 1 ? { ...one, ...sum } : one));
      return { ...own, events: each, cumulative: true };
    }
    const rollingDays = draw.pick([2, 3, 7, 28, 66, 90]);
    const [first = {}, ...others] = events;
    const alone = draw.chance(0.5)
      ? [{ ...first, rollingDays: draw.pick([1, 5]) }, ...others]
      : events;
    return {
      ...own,
      events: alone,
      ...(draw.chance(0.7) || alone === events ? { rollingDays } : {}),
    };
  }

  #formula(series: number, depth: number): string {
    const draw = this.#draw;
    if (depth === 0 || draw.chance(0.2)) {
      const letter = String.fromCharCode(65 + draw.below(series));
      return draw.chance(0.7) ? letter : draw.pick(['100', '0', '0.5', '3', '12.25']);
    }
    const [one, other] = [this.#formula(series, depth - 1), this.#formula(series, depth - 1)];
    const made = `${one} ${draw.pick(['+', '-', '*', '/', '/'])} ${other}`;
    if (draw.chance(0.1)) return `-${one}`;
    return draw.chance(0.4) ? `(${made})` : made;
  }

  #several<T>(least: number, most: number, one: () => T): T[] {
    return Array.from({ length: least + this.#draw.below(most - least + 1) }, one);
  }

  #series(ofUsers: boolean): EventQuery {
    const users = ['UNIQUE_USERS', 'PER_USER_AVG'] as const;
    const aggregation = ofUsers ? this.#draw.pick(users) : this.#aggregation();
    const needsProperty = readsProperty(aggregation);
    const property = this.#draw.pick([...customProperties, '$browser', 'amount', 'big']);
    return {
      event: this.#eventFilter(0.2),
      aggregation,
      ...(needsProperty && { aggregationProperty: property }),
    };
  }

  #userFlow(): NonNullable<Question['userFlow']> {
    const draw = this.#draw;
    const nodeKind = this.#nodeKind();
    return {
      nodeKind,
      ...(nodeKind === 'PROPERTY' && {
        nodeProperty: draw.pick([
          '$pathname',
          'plan',
          'mixed',
          'profile.tags',
          ...hostileProperties,
        ]),
      }),
      ...(draw.chance(0.5) && { groupBy: 'USER' as const }),
      ...(draw.chance(0.5) && { scope: this.#eventFilter(0.2) }),
      ...(draw.chance(0.6) && { maxHops: 1 + draw.below(10) }),
      ...(draw.chance(0.6) && { maxNodes: 1 + draw.below(6) }),
      ...(draw.chance(0.6) && { maxLinks: 1 + draw.below(30) }),
    };
  }

  #flowEnds(): Partial<Question> {
    const draw = this.#draw;
    const which = draw.below(4);
    const from = which === 1 || which === 3 ? { from: this.#eventFilter(0.3) } : {};
    const to = which > 1 ? { to: this.#eventFilter(0.3) } : {};
    return which === 0 ? {} : { flow: { ...from, ...to } };
  }

  #topK(): NonNullable<Question['topK']> {
    const draw = this.#draw;
    const dimension = this.#dimension();
    const metric = dimension === 'USER' ? this.#userMetric() : this.#topMetric();
    const needsProperty = readsProperty(metric);
    return {
      dimension,
      metric,
      ...(dimension === 'PROPERTY' && {
        property: draw.pick([
          ...autoProperties,
          ...customProperties,
          ...hostileProperties,
          'profile.city',
        ]),
      }),
      // Sums of these are exact, so that equal groups are equal.
      ...(needsProperty && { metricProperty: draw.pick(['amount', 'mixed']) }),
      ...(draw.chance(0.5) && { scope: this.#eventFilter(0.2) }),
      ...(draw.chance(0.6) && { limit: 1 + draw.below(12) }),
      ...(draw.chance(0.3) && { omitOthers: true }),
    };
  }

  #breakdowns(): Partial<Question> {
    const draw = this.#draw;
    const names = new Set(this.#several(1, draw.chance(0.2) ? 5 : 2, () => this.#breakdown()));
    return {
      breakdowns: [...names],
      ...(draw.chance(0.7) && { breakdownLimit: 1 + draw.below(6) }),
    };
  }

  #breakdown(): string {
    const draw = this.#draw;
    const source = this.#breakdownSource();
    const names = { AUTO: autoProperties, CUSTOM: customProperties, PROFILE: traits }[source];
    if (source === 'CUSTOM' && draw.chance(0.2)) {
      return draw.pick(hostileProperties.filter((name) => !name.startsWith('profile.')));
    }
    return source === 'PROFILE' ? `profile.${draw.pick(names)}` : draw.pick(names);
  }

  #conditions(): Partial<Question> {
    const draw = this.#draw;
    if (draw.chance(0.7)) return {};
    const group = (): FilterGroup => ({
      filters: this.#several(1, 2, () => this.filter()),
      ...(draw.chance(0.5) && { operator: draw.pick(['AND', 'OR'] as const) }),
    });
    return {
      filterGroups: this.#several(1, 2, group),
      ...(draw.chance(0.5) && { filterGroupsOperator: draw.pick(['AND', 'OR'] as const) }),
    };
  }

  #eventFilter(filtered: number): EventFilter {
    const draw = this.#draw;
    const kind = draw.chance(0.35)
      ? ''
      : draw.pick(kinds.slice(0, draw.chance(0.7) ? 3 : kinds.length));
    const filters = draw.chance(filtered) ? [this.filter()] : [];
    if (draw.chance(0.25)) {
      const several = this.#several(1, 4, () => draw.pick(kinds));
      return { kinds: several, ...(filters.length > 0 && { filters }) };
    }
    return { ...(kind !== '' && { kind }), ...(filters.length > 0 && { filters }) };
  }

  /** On a property of events or a trait. */
  filter(): Filter {
    const draw = this.#draw;
    const operator = this.#operator();
    const source = this.#source();
    const names: Record<typeof source, readonly string[]> = {
      AUTO: autoProperties,
      CUSTOM: [...customProperties, 'mixed', 'plan', draw.pick(hostileProperties)],
      PROFILE: traits,
    };
    const property = draw.pick(names[source]);
    const isNamed = source === 'PROFILE' || draw.chance(0.5);
    return { property, operator, ...this.#filterValue(operator), ...(isNamed && { source }) };
  }

  #filterValue(operator: string): { value?: string; values?: string[] } {
    const draw = this.#draw;
    const text = (): string => draw.pick(draw.chance(0.3) ? hostileTexts : texts);
    switch (operator) {
      case 'IS_SET':
      case 'IS_NOT_SET':
        return {};
      case 'IN':
      case 'NOT_IN':
        return { values: this.#several(1, 4, text) };
      case 'BETWEEN':
      case 'NOT_BETWEEN':
        return { values: [draw.pick(numbers), draw.pick(numbers)] };
      case 'LT':
      case 'LTE':
      case 'GT':
      case 'GTE':
        return { value: draw.pick(numbers) };
      case 'CONTAINS':
      case 'NOT_CONTAINS':
        return { value: draw.pick(parts) };
      default:
        return { value: text() };
    }
  }

  #range(form: string): Pick<Question, 'fromMs' | 'toMs' | 'granularity' | 'timezone'> {
    const draw = this.#draw;
    const season = draw.pick(this.#project.seasons);
    const timezone = draw.chance(0.8) ? draw.pick(season.zones) : draw.pick(allZones);
    const granularity = this.#unit();
    const zone = draw.chance(0.9) ? { timezone } : {};
    const unit = granularity === 'DAY' && draw.chance(0.3) ? {} : { granularity };
    const nanos = draw.chance(0.1) ? { fromNanos: 1, toNanos: 999_999 } : {};
    const { fromMs, toMs } = this.#span(season, granularity, form);
    const weekStart = granularity === 'WEEK' ? this.#weekStart() : 0;
    const weeks = weekStart === 0 ? {} : { weekStart };
    return { fromMs, toMs: lastSureMs(timezone, toMs), ...zone, ...unit, ...weeks, ...nanos };
  }

  #span(season: Season, granularity: Unit, form: string): { fromMs: number; toMs: number } {
    const draw = this.#draw;
    const within = (longestMs: number): { fromMs: number; toMs: number } => {
      const length = Math.min(longestMs, season.toMs - season.fromMs);
      const fromMs = season.fromMs + draw.below(season.toMs - season.fromMs - length + 1);
      return { fromMs, toMs: fromMs + 1 + draw.below(length) };
    };
    // A grid of cohorts, or a hundred groups: fewer buckets keep the answer short.
    const isGrid = form === 'RETENTION';
    switch (granularity) {
      case 'MINUTE':
        return draw.chance(0.7) || isGrid
          ? this.#nearChange(season, isGrid ? hourMs : 6 * hourMs)
          : this.#nearWords(season);
      case 'HOUR':
        return draw.chance(0.5)
          ? within(isGrid ? 30 * hourMs : 4 * dayMs)
          : this.#wholeDays(season);
      case 'DAY':
        return draw.chance(0.8) ? this.#wholeDays(season) : around(season, isGrid ? 20 : 180);
      case 'WEEK':
        return around(season, draw.pick([20, 100, isGrid ? 150 : 400]));
      case 'MONTH':
        return around(season, draw.chance(0.1) && !isGrid ? 2_900 : draw.pick([40, 300, 400]));
      default: {
        const unknown: never = granularity;
        throw new Error(`no such unit: ${String(unknown)}`);
      }
    }
  }

  #nearChange({ changeMs }: Season, longestMs: number): { fromMs: number; toMs: number } {
    const length = longestMs / 2 + this.#draw.below(longestMs / 2);
    const fromMs = changeMs - this.#draw.below(length);
    return { fromMs, toMs: fromMs + length };
  }

  /** About as many buckets as one number or several have bits. */
  #nearWords({ changeMs }: Season): { fromMs: number; toMs: number } {
    const minutes = 64 * this.#draw.pick([1, 2, 3]) - 4 + this.#draw.below(8);
    const fromMs = changeMs - this.#draw.below(minutes) * minuteMs;
    return { fromMs, toMs: fromMs + minutes * minuteMs };
  }

  #wholeDays({ fromMs, toMs }: Season): { fromMs: number; toMs: number } {
    const start = Math.floor(fromMs / dayMs) * dayMs;
    const days = 1 + this.#draw.below(Math.ceil((toMs - start) / dayMs));
    return { fromMs: start, toMs: start + days * dayMs };
  }
}

function around({ fromMs, toMs }: Season, days: number): { fromMs: number; toMs: number } {
  return { fromMs: fromMs - (days / 2) * dayMs, toMs: toMs + (days / 2) * dayMs };
}
