// The rows of a ranking: of the built-in board where it has them, else asked for, with their second measure.

import { directName } from '../../../platform/words/insight-words.ts';
import { kindName } from '../../../platform/words/value-words.ts';
import type {
  RenderedTime,
  RenderResponse,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type {
  InsightQuerySpec,
  QueryResponse,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Condition } from '../../filter/condition.ts';
import { type SegmentFilter, withSegments } from '../../filter/segment-names.ts';
import { timeKey } from '../../question/board-time.ts';
import { useResource } from '../../resource.ts';
import { valueName } from '../../results/names.ts';
import { sourceOf } from '../../sources/source-of.ts';
import { exactKindName, namer } from '../../text/namer.ts';
import { answerOf, askQuestion, groupsOf as filterGroupsOf, resultOf } from '../board.ts';
import { mostGroups, type Ranking } from './cards.ts';
import { cutRows, groupsOf, type RankedRow, rankedRows, withSites } from './rows.ts';

/** What the page asks of every ranking. */
export type Asked = {
  projectId: string;
  /** Names conditions, segments and who is counted. */
  key: string;
  conditions: readonly Condition[];
  segments: SegmentFilter;
  includeCookieless: boolean;
  /** Of the board's answer; undefined while that is on its way, and nothing is asked then. */
  time: RenderedTime | undefined;
};

export type Ranked = {
  /** undefined while nothing is known. */
  rows: RankedRow[] | undefined;
  /** Of the first measure. */
  answer: QueryResponse | undefined;
  error: unknown;
  isLoading: boolean;
  /** The rows are those of the question before. */
  isStale: boolean;
  reload: () => void;
};

/** Rows of a card. */
const shownGroups = 10;

/** The answer to a question with all that the page asks of it. */
export function askRanking(
  { projectId, conditions, segments, includeCookieless, time }: Asked,
  spec: InsightQuerySpec,
  end: AbortSignal,
): Promise<QueryResponse> {
  const filterGroups = filterGroupsOf(conditions);
  const whole = withSegments({ ...spec, filterGroups, includeCookieless }, segments);
  return askQuestion(projectId, whole, time, end);
}

/** The greatest rows. Use it with one ranking only: another one is another component. */
export function useRanking(
  asked: Asked,
  ranking: Ranking,
  board: RenderResponse | undefined,
): Ranked & { fault: string | undefined } {
  const ofBoard = ranking.isOfBoard && board ? answerOf(board, ranking.id) : undefined;
  const outcome = ranking.isOfBoard && board ? resultOf(board, ranking.id)?.outcome : undefined;
  // Sites are put together where all their hosts are known.
  const isCut = ofBoard !== undefined && hasRest(ofBoard, ranking);
  const needsMore = isCut && ranking.isOfSites === true;
  const groups = needsMore || ranking.isOnMap ? mostGroups : shownGroups;
  const asks = !ranking.isOfBoard || needsMore;
  const all = useAnswers(asked, ranking, groups, asks ? undefined : ofBoard);
  const rows = all.rows && cutRows(all.rows, ranking.isOnMap ? mostGroups : shownGroups);
  const fault = outcome?.case === 'error' ? outcome.value.message : undefined;
  return { ...all, rows, fault };
}

/** As many rows as one answer has. */
export function useAllRows(asked: Asked, ranking: Ranking): Ranked {
  return useAnswers(asked, ranking, mostGroups, undefined);
}

/** Names the rows of a ranking; undefined while nothing is asked. */
export function rankingKey({ key, time }: Asked, { id }: Ranking, groups: number) {
  return time && `ranking ${id} ${groups} ${key} ${timeKey(time)}`;
}

function hasRest(answer: QueryResponse, { property }: Ranking): boolean {
  return groupsOf(answer, property).some(({ isRest }) => isRest);
}

/** `known`: the first answer where somebody has asked for it. */
function useAnswers(
  asked: Asked,
  ranking: Ranking,
  groups: number,
  known: QueryResponse | undefined,
): Ranked {
  const { property, second } = ranking;
  const key = rankingKey(asked, ranking, groups);
  const ask = (spec: InsightQuerySpec, end: AbortSignal) => askRanking(asked, spec, end);
  const first = useResource(known || !key ? undefined : key, (end) =>
    ask(ranking.spec(groups), end),
  );
  const answer = known ?? first.data;
  const found = answer && groupsOf(answer, property);
  const isFirst = known !== undefined || (first.data !== undefined && !first.isLoading);
  const texts = (found ?? []).flatMap(({ text }) => (text === undefined ? [] : [text]));
  const more = useResource(key && second && isFirst ? `${key} second` : undefined, (end) =>
    second ? ask(second.spec(groups, texts), end) : Promise.reject(new Error('no second measure')),
  );
  // Two answers belong together once both are of the same question.
  const other = more.isLoading ? undefined : more.data && groupsOf(more.data, property);
  const nameOfText = namer(texts, (text: string | undefined, isExact) =>
    isExact && property === undefined ? exactKindName(text ?? '') : nameOf(ranking, text),
  );
  const named = found && rankedRows(found, other, nameOfText);
  const siteOf = (host: string): string | undefined => sourceOf(host)?.name;
  return {
    rows: named && ranking.isOfSites ? withSites(named, siteOf) : named,
    answer,
    error: first.error,
    isLoading: first.isLoading || more.isLoading,
    isStale: known === undefined && first.isLoading && first.data !== undefined,
    reload: first.reload,
  };
}

/** What a value is called. */
export function nameOf({ property, isOfSites }: Ranking, text: string | undefined): string {
  if (property === undefined) return kindName(text ?? '');
  if (isOfSites && text === undefined) return directName;
  return valueName(property, text, !isOfSites);
}
