// Rows of a ranking beyond the greatest hundred, a hundred at a time: the service is asked for values that have a text,
// and that are none of those that are known.

import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { kindName } from '../../../platform/words/value-words.ts';
import {
  EventFilterSchema,
  FilterOperator,
  type PropertyFilter,
} from '../../../proto/gen/common/v1/filter_pb.js';
import {
  InsightsService,
  type QueryResponse,
  LeftOut_Reason as Reason,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../../client.ts';
import { botProperty } from '../../filter/condition.ts';
import { isEmpty } from '../../filter/segment-names.ts';
import { kindNamer } from '../../text/namer.ts';
import type { Ranking } from './cards.ts';
import type { MoreRow } from './joined.ts';
import { canExclude, namedLike, narrowedTo, oneOf, type Texts } from './narrowing.ts';
import { groupsOf, rankedRows } from './rows.ts';
import { type Asked, askRanking, nameOf } from './use-ranking.ts';

const insights = createClient(InsightsService, transport);

/** The next rows, and the token of those after them, '' where there are none that can be asked for. */
type Page = { rows: MoreRow[]; next: string };

/** `token`: of the page before; '' for the first, which leaves out `known`. `text`: '' for rows of any name. */
export async function readMoreRows(
  asked: Asked,
  ranking: Ranking,
  { text, known, token }: { text: string; known: Texts; token: string },
  end: AbortSignal,
): Promise<Page> {
  const seen = token === '' ? known : textsOfToken(token);
  const { property, narrowed } = ranking;
  if (property === undefined || !narrowed) return readKinds(asked, ranking, text, seen, end);
  const read = (filters: PropertyFilter[]) => readGroups(asked, ranking, filters, end);
  const like = text === '' || token !== '' ? [] : namedLike(property, text);
  const [rows, named] = await Promise.all([
    read(narrowedTo(property, text, seen)),
    like.length === 0 ? [] : read([oneOf(property, like), lacks(property, text)]),
  ]);
  const all = [...seen, ...rows.flatMap(({ texts }) => texts)];
  const isCut = rows.some(({ isRest }) => isRest);
  return { rows: [...named, ...rows], next: isCut && canExclude(all) ? tokenOf(all) : '' };
}

/** What is found by its value as well is among the others. */
function lacks(property: string, text: string): PropertyFilter {
  const [contains] = narrowedTo(property, text, []);
  const operator = FilterOperator.NOT_CONTAINS;
  return { ...oneOf(property, []), operator, value: contains?.value ?? text };
}

async function readGroups(
  asked: Asked,
  ranking: Ranking,
  filters: PropertyFilter[],
  end: AbortSignal,
): Promise<MoreRow[]> {
  const { property, narrowed, second } = ranking;
  if (!narrowed) return [];
  const answer = await askRanking(asked, narrowed(filters), end);
  const groups = groupsOf(answer, property);
  const texts = groups.flatMap(({ text }) => (text === undefined ? [] : [text]));
  // A visit whose first event has the value is known to be counted only where any event of it counts. Of robots all
  // events of a visit are, as a rule.
  const isAnyEvent =
    asked.conditions.every(({ property: one }) => one === botProperty) && isEmpty(asked.segments);
  const isKnown = !second?.isRateOfVisits || isAnyEvent;
  const other =
    second?.narrowed && isKnown && texts.length > 0
      ? groupsOf(await askRanking(asked, second.narrowed(texts), end), property)
      : undefined;
  const others = groupsInOthers(answer);
  return rankedRows(groups, other, (value) => nameOf(ranking, value)).map((row) =>
    row.isRest ? { ...row, groups: others } : row,
  );
}

/** How many groups an answer has put together. */
export function groupsInOthers({ leftOut }: QueryResponse): number {
  const folded = leftOut.find(({ reason }) => reason === Reason.GROUPS_IN_OTHERS);
  return Number(folded?.count ?? 0n);
}

/** A question names twenty kinds. */
const kindsAtOnce = 20;
const questionsAtOnce = 5;

/** Kinds cannot be left out of a question: those that are stored are named, the most frequent first. */
async function readKinds(
  asked: Asked,
  ranking: Ranking,
  text: string,
  seen: Texts,
  end: AbortSignal,
): Promise<Page> {
  const { kinds } = await insights.getFilterSchema({}, inProject(asked.projectId, end));
  const sought = text.toLowerCase();
  const left = kinds
    .map(({ kind }) => kind)
    .filter((kind) => !seen.includes(kind))
    .filter((kind) => [kind, kindName(kind)].some((one) => one.toLowerCase().includes(sought)));
  const asks = left.slice(0, kindsAtOnce * questionsAtOnce);
  const parts = Array.from({ length: Math.ceil(asks.length / kindsAtOnce) }, (_, part) =>
    asks.slice(part * kindsAtOnce, (part + 1) * kindsAtOnce),
  );
  const answers = await Promise.all(
    parts.map((part) => askRanking(asked, ofKinds(ranking, part), end)),
  );
  const groups = answers.flatMap((answer) => groupsOf(answer, undefined));
  const nameOfKind = kindNamer(kinds.map(({ kind }) => kind));
  const rows = rankedRows(groups, undefined, (kind = '') => nameOfKind(kind));
  const all = [...seen, ...asks];
  return { rows, next: left.length > asks.length ? tokenOf(all) : '' };
}

function ofKinds({ spec }: Ranking, kinds: string[]) {
  const asked = spec(kindsAtOnce);
  const { topK } = asked;
  return topK
    ? { ...asked, topK: { ...topK, scope: create(EventFilterSchema, { kinds }) } }
    : asked;
}

function tokenOf(texts: Texts): string {
  return JSON.stringify(texts);
}

function textsOfToken(token: string): Texts {
  const texts: unknown = JSON.parse(token);
  if (!Array.isArray(texts)) return [];
  return texts.map((one) => (typeof one === 'string' ? one : undefined));
}
