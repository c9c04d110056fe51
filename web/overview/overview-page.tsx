// The overview of a project: the built-in board, drawn as a page. Filters and range are in the address.

import type { ComponentChildren } from 'preact';
import type { RenderResponse } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  Granularity,
  type InsightQuerySpec,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { usePlot } from '../charts/plot-code.ts';
import { botsOf, withoutBots } from '../filter/bots.tsx';
import { type Condition, readConditions, writeConditions } from '../filter/condition.ts';
import { CookielessNote, hasCookieless } from '../filter/cookieless.tsx';
import { FilterBar } from '../filter/filter-bar.tsx';
import { segmentsOfAddress, setSegments } from '../filter/known-segments.ts';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { isEmpty, withSegments } from '../filter/segment-names.ts';
import { questionHref } from '../question/question-link.ts';
import { rowsHref } from '../question/rows-link.ts';
import { Freshness, LeftOutNote } from '../results/provenance.tsx';
import type { Rows } from '../results/shown.ts';
import { BoardFault } from '../retries/busy-note.tsx';
import { HeadInSight } from '../retries/head-in-sight.tsx';
import type { PageProps } from '../router.ts';
import { address, navigate, setQuery } from '../router.ts';
import { DemoCommand } from '../setup/demo-command.tsx';
import { timeQuery } from '../time/kept-range.ts';
import { RangePicker } from '../time/range.tsx';
import { BigChart, listHref, RowsOf } from './big-chart.tsx';
import {
  answerOf,
  type Course,
  groupsOf,
  questionKey,
  resultOf,
  useCourses,
  useOverview,
} from './board.ts';
import { FigureTile } from './figure-tile.tsx';
import { Goals } from './goals.tsx';
import { type Measure, measures } from './measures.ts';
import { type Card, cards } from './rankings/cards.ts';
import { RankingCard, type RankingProps } from './rankings/ranking-card.tsx';
import '../styles/overview.css';
import '../styles/results.css';

export function Page({ params }: PageProps) {
  usePlot();
  const projectId = params['project'] ?? '';
  const { query } = address.value;
  const cookieless = hasCookieless(useSeenVisitors(projectId));
  const { conditions, bots, asked, isCounted, overview } = useCounted(projectId);
  const { data: board, isLoading } = overview;
  const courses = useCourses(projectId, asked, overview);
  const measure = measures.find(({ id }) => id === query.get('measure')) ?? measures[0];
  const setConditions = (next: readonly Condition[]): void =>
    setQuery({ filters: writeConditions(next) });
  const segments = segmentsOfAddress();
  const { hrefOf, furtherHref } = linksOf(projectId, asked, board, isCounted);
  const open = (spec: InsightQuerySpec, rows: Rows): void => {
    const href = hrefOf(spec, rows);
    if (href) navigate(href);
  };
  const isBare = asked.length === 0 && isEmpty(segments) && board && hasNoEvents(board);
  return (
    <>
      <Head
        conditions={conditions}
        bots={bots}
        onChange={setConditions}
        isUpdating={board !== undefined && isLoading}
      />
      <BoardFault of={overview} />
      <div class="overview" aria-busy={!bots || isLoading || courses.isLoading}>
        {isBare ? (
          <NoEvents projectId={projectId} />
        ) : (
          <Figures board={board} courses={courses.data} chosen={measure} />
        )}
        {measure && !isBare ? (
          <ChartCard
            projectId={projectId}
            board={board}
            measure={measure}
            course={courses.data?.get(measure.id)}
            fault={measure.inCourse === undefined ? courses.error : undefined}
            note={cookieless === true ? <Cookieless isCounted={isCounted} /> : null}
            questionHref={furtherHref(measure.trend)}
            onOpen={(rows) => open(measure.trend, rows)}
          />
        ) : null}
        <Rankings
          cards={isBare ? [] : cards}
          asked={{
            ...{ projectId, conditions: asked, segments, includeCookieless: isCounted },
            key: `${questionKey(projectId, asked)} ${isCounted}`,
            time: isLoading || !bots ? undefined : board?.time,
          }}
          board={board}
          hrefOf={hrefOf}
          questionOf={furtherHref}
          onFilter={(condition) => setConditions(withCondition(conditions, condition))}
          onKind={(kind) => navigate(listHref(projectId, 'events', { kind }))}
        >
          {/* Here without events too: a goal may be made before its first one comes. */}
          <Goals
            key={projectId}
            projectId={projectId}
            conditions={bots && asked}
            includeCookieless={isCounted}
          />
        </Rankings>
      </div>
    </>
  );
}

/** Where a question's rows are, and where it is a question of its own. */
function linksOf(
  projectId: string,
  asked: readonly Condition[],
  board: RenderResponse | undefined,
  isCounted: boolean,
) {
  const { query } = address.value;
  const segments = segmentsOfAddress();
  const hrefOf = (asIs: InsightQuerySpec, rows: Rows): string | undefined => {
    const spec = withSegments(asIs, segments);
    const time = timeQuery(query);
    return rowsHref({ projectId, spec, conditions: asked, time, ...bucketsOf(board) }, rows);
  };
  const furtherHref = (spec: InsightQuerySpec): string | undefined =>
    questionHref({
      ...{ projectId, filterGroups: groupsOf(asked), time: timeQuery(query) },
      spec: withSegments(
        { ...spec, includeCookieless: spec.includeCookieless && isCounted },
        segments,
      ),
    });
  return { hrefOf, furtherHref };
}

type HeadProps = Pick<Parameters<typeof FilterBar>[0], 'conditions' | 'bots' | 'onChange'>;

function Head({ isUpdating, ...filters }: HeadProps & { isUpdating: boolean }) {
  return (
    <HeadInSight name="Overview" isUpdating={isUpdating}>
      <FilterBar {...filters} />
      <SegmentBar chosen={segmentsOfAddress()} onChange={setSegments} />
      <RangePicker />
    </HeadInSight>
  );
}

/** The cards of rankings, and the one of goals at their end. */
function Rankings({
  cards,
  children,
  ...props
}: RankingProps & { cards: readonly Card[]; children: ComponentChildren }) {
  return (
    <div class="rankings">
      {cards.map((card) => (
        <RankingCard key={card.name} {...props} card={card} />
      ))}
      {children}
    </div>
  );
}

/** The board, and what it counts: by the address's conditions, and of bots and cookieless visitors as that says. */
function useCounted(projectId: string) {
  const { query } = address.value;
  const conditions = readConditions(query.get('filters') ?? '');
  const isCounted = query.get('cookieless') !== '0';
  const overview = useOverview(projectId, conditions, isCounted);
  const bots = botsOf(overview, conditions);
  return { conditions, bots, asked: withoutBots(conditions, bots), isCounted, overview };
}

function bucketsOf(board: RenderResponse | undefined) {
  const { granularity = Granularity.DAY } = board?.time ?? {};
  return { granularity };
}

/** A condition on a property takes the place of the one before it. */
function withCondition(conditions: readonly Condition[], added: Condition): Condition[] {
  return [...conditions.filter(({ property }) => property !== added.property), added];
}

function hasNoEvents(board: RenderResponse): boolean {
  const result = answerOf(board, 'kinds')?.result;
  return result?.case === 'topK' && result.value.rows.length === 0;
}

function NoEvents({ projectId }: { projectId: string }) {
  return (
    <section class="empty">
      <h2>No events in this range</h2>
      <p>Send the first event, or choose a longer range.</p>
      <a class="button primary" href={`/p/${projectId}/setup`}>
        Send the first event
      </a>
      <DemoCommand />
    </section>
  );
}

function Figures(props: {
  board: RenderResponse | undefined;
  courses: Map<string, Course> | undefined;
  chosen: Measure | undefined;
}) {
  const { board, courses, chosen } = props;
  const [first] = measures;
  return (
    <div class="figure-tiles" role="group" aria-label="Figures: choose one for the chart">
      {measures.map((one) => (
        <FigureTile
          key={one.id}
          measure={one}
          result={board ? resultOf(board, one.id) : undefined}
          course={courses?.get(one.id)}
          isChosen={one === chosen}
          onChoose={() => setQuery({ measure: one === first ? undefined : one.id })}
        />
      ))}
    </div>
  );
}

function Cookieless({ isCounted }: { isCounted: boolean }) {
  const turn = (): void => setQuery({ cookieless: isCounted ? '0' : undefined });
  return <CookielessNote isCounted={isCounted} onTurn={turn} />;
}

/** How fresh the page is, and what its chosen figure does not count. */
function Fresh({ board, measure }: { board: RenderResponse; measure: Measure }) {
  const answer = answerOf(board, measure.id);
  const answers = board.results.flatMap(({ outcome }) =>
    outcome.case === 'insight' ? [outcome.value] : [],
  );
  return (
    <>
      <Freshness answers={answers} />
      {answer ? <LeftOutNote answer={answer} hideGroups /> : null}
    </>
  );
}

function ChartCard(props: {
  projectId: string;
  board: RenderResponse | undefined;
  measure: Measure;
  course: Course | undefined;
  fault: unknown;
  note: ComponentChildren;
  questionHref: string | undefined;
  onOpen: (rows: Rows) => void;
}) {
  const { board, measure, course, fault, onOpen } = props;
  return (
    <section class="card overview-chart" aria-label={`Chart: ${measure.name}`}>
      <BigChart
        measure={measure}
        course={course}
        fault={fault}
        {...bucketsOf(board)}
        onOpen={onOpen}
      />
      <footer class="row between">
        <div class="provenance">
          {board ? <Fresh board={board} measure={measure} /> : null}
          {board ? props.note : null}
        </div>
        <div class="row">
          {props.questionHref ? <a href={props.questionHref}>Open in Insights</a> : null}
          <RowsOf measure={measure} projectId={props.projectId} />
        </div>
      </footer>
    </section>
  );
}
