// All questions of the oracle, and how many of them are to have each feature.

import type { GeneratedProject } from '../../project/generated-project.ts';
import { featuresOf } from '../coverage.ts';
import {
  comparisons,
  operators,
  QuestionSource,
  sessionMetrics,
  sources,
  topMetrics,
  units,
} from '../generated-questions.ts';
import { type Aggregation, aggregations, type Question, revenueMeasures } from '../question.ts';
import { peerQuestions } from './peer-questions.ts';
import { revenueQuestions } from './revenue-questions.ts';
import { toppedUp, type Wanted } from './topped-up.ts';

/** Of what is usual. */
export const leastOfEach = 10;
/** What nothing of the kind was asked for before, and peers have. */
const leastOfNew = 20;
/** A metric of the greatest groups; several kinds in a form; the touch that is usual. */
const leastOfRare = 5;
const ofKinds = ['SEGMENTATION', 'VISITS', 'RETENTION', 'TOP_K', 'STICKINESS', 'REVENUE'];
const addedAggregations: readonly Aggregation[] = [
  ...(['MEDIAN', 'P75', 'P90', 'P95', 'P99', 'DISTINCT_VALUES'] as const),
  ...(['SUM_PER_USER', 'AVG_PER_USER'] as const),
];
/** As `coverage.ts` names them. */
const addedMembers: readonly string[] = [
  ...['formulas', 'formulas by groups', 'rolling', 'cumulative TRENDS', 'touch EVERY', 'weeks'],
  ...['funnel ORDERED', 'funnel ANY', 'funnel STRICT', 'funnel exclusions', 'funnel held'],
  ...['funnel per visit', 'funnel first entry', 'funnel over time', 'funnel optional steps'],
  ...['funnel as of', 'kinds FUNNEL', 'kinds TRENDS'],
  ...['retention IN_RANGE', 'retention EVER', 'retention RECURRING'],
  ...['retention unbounded', 'retention rolling'],
  ...['ways of USER', 'ways from', 'ways to'],
  ...['groups RETENTION', 'groups LIFECYCLE', 'groups STICKINESS', 'cumulative STICKINESS'],
  ...['form REVENUE', 'groups REVENUE', 'cumulative REVENUE'],
  ...['average TRENDS', 'average VISITS', 'average REVENUE', 'events per user'],
];
const usual: readonly string[] = [
  ...[
    ...['TRENDS', 'SEGMENTATION', 'VISITS TRENDS', 'VISITS SEGMENTATION', 'FUNNEL'],
    ...['RETENTION', 'USER_FLOW', 'TOP_K', 'LIFECYCLE', 'STICKINESS'],
  ].map((form) => `form ${form}`),
  ...aggregations.map((one) => `aggregation ${one}`),
  ...operators.map((one) => `operator ${one}`),
  ...sources.flatMap((one) => [`filter source ${one}`, `breakdown source ${one}`]),
  ...units.map((one) => `unit ${one}`),
  ...sessionMetrics.map((one) => `session metric ${one}`),
  ...['PROPERTY', 'EVENT_KIND', 'USER'].map((one) => `dimension ${one}`),
  ...['node EVENT_KIND', 'node PROPERTY', 'as of', 'cookieless', 'step timing'],
  ...['weeks from 7', 'funnel over time by groups', 'average by groups'],
  ...['average formulas', 'events per user by groups', 'events per user or more'],
  'funnel optional by groups',
];
const rare: readonly string[] = [
  ...topMetrics.map((one) => `top metric ${one}`),
  ...ofKinds.map((form) => `kinds ${form}`),
  'touch FIRST',
];
const added: readonly string[] = [
  ...revenueMeasures.map((one) => `revenue ${one}`),
  ...comparisons.map((one) => `compare ${one}`),
  ...addedAggregations.map((one) => `aggregation ${one}`),
  ...addedMembers,
];
/** The greater of two numbers for the same feature is the last. */
export const wanted: Wanted = new Map([
  ...rare.map((feature) => [feature, leastOfRare] as const),
  ...usual.map((feature) => [feature, leastOfEach] as const),
  ...added.map((feature) => [feature, leastOfNew] as const),
]);

/** Questions of revenue beside all others. */
const partOfRevenue = 0.08;
/** Questions of each member that most peers have under a name of its own. */
const partOfPeers = 0.05;
/** A bound for a feature that is never drawn. */
const rounds = 60;
/** Of each round of further ones; a round draws as many seeds further. */
const furtherCount = 20;
const furtherSeeds = 10;

/** `count` of the usual kinds, those made of others, and more of what is still too rare. */
export function allQuestions(seed: number, project: GeneratedProject, count: number): Question[] {
  const source = new QuestionSource(seed, project);
  const draws = (number: number) => Array.from({ length: number }, () => source.question());
  const derived = (from: number, some: { revenue: number; peers: number }): Question[] => {
    const revenue = revenueQuestions(from, project, some.revenue);
    return [...revenue, ...peerQuestions(from, project, { count: some.peers, revenue })];
  };
  const drawn = [
    ...draws(count),
    ...derived(seed, {
      revenue: Math.ceil(count * partOfRevenue),
      peers: Math.ceil(count * partOfPeers),
    }),
  ];
  const more = (round: number): Question[] => [
    ...draws(furtherCount),
    ...derived(seed + furtherSeeds * (round + 1), { revenue: 5, peers: 2 }),
  ];
  return toppedUp(drawn, wanted, { featuresOf, more, rounds });
}
