// The overview of a project: the built-in board, drawn as a page. Filters and range are in the address.

import type { ComponentChildren } from 'preact';
import type { RenderResponse } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  Granularity,
  type InsightQuerySpec,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { botsOf, withoutBots } from '../filter/bots.tsx';
import { type Condition, readConditions, writeConditions } from '../filter/condition.ts';
import { CookielessNote, hasCookieless } from '../filter/cookieless.tsx';
import { FilterBar } from '../filter/filter-bar.tsx';
import { segmentsOfAddress, setSegments } from '../filter/known-segments.ts';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { isEmpty, withSegments } from '../filter/segment-names.ts';
import { boardTime, timeQuery } from '../question/board-time.ts';
import { questionHref } from '../question/question-link.ts';
import { rowsHref } from '../question/rows-link.ts';
import { Freshness, LeftOutNote } from '../results/provenance.tsx';
import type { Rows } from '../results/shown.ts';
import { BoardFault } from '../retries/busy-note.tsx';
import type { PageProps } from '../router.ts';
import { address, navigate, setQuery } from '../router.ts';
import { DemoCommand } from '../setup/demo-command.tsx';
import { RangePicker, useRange } from '../time/range.tsx';
import { Loaded } from '../ui/loaded.tsx';
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
import { type Measure, measures } from './measures.ts';
import { RankingCard } from './ranking-card.tsx';
import '../styles/overview.css';
import '../styles/results.css';

const cards = [
  {
    name: 'pages',
    title: 'Pages',
    tiles: [
      { id: 'pages', name: 'Seen' },
      { id: 'entries', name: 'Entry' },
      { id: 'exits', name: 'Exit' },
    ],
  },
  {
    name: 'sources',
    title: 'Sources',
    tiles: [
      { id: 'sources', name: 'Sites' },
      { id: 'channels', name: 'Channels' },
      { id: 'campaigns', name: 'Campaigns' },
    ],
  },
  {
    name: 'places',
    title: 'Places and devices',
    tiles: [
      { id: 'countries', name: 'Countries' },
      { id: 'devices', name: 'Devices' },
    ],
  },
  { name: 'events', title: 'Events', tiles: [{ id: 'kinds', name: 'Kinds' }] },
];

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const { query } = address.value;
  const { conditions, bots, asked, cookieless, isCounted } = useCounted(projectId);
  const overview = useOverview(projectId, bots && asked, isCounted);
  const { data: board, isLoading } = overview;
  const courses = useCourses(projectId, asked, overview);
  const measure = measures.find(({ id }) => id === query.get('measure')) ?? measures[0];
  const setConditions = (next: readonly Condition[]): void =>
    setQuery({ filters: writeConditions(next) });
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
  const open = (spec: InsightQuerySpec, rows: Rows): void => {
    const href = hrefOf(spec, rows);
    if (href) navigate(href);
  };
  const isBare = asked.length === 0 && isEmpty(segments) && board && hasNoEvents(board);
  return (
    <>
      <Head conditions={conditions} bots={bots} onChange={setConditions} />
      <BoardFault of={overview} />
      {isBare ? (
        <NoEvents projectId={projectId} />
      ) : (
        <div class="overview" aria-busy={!bots || isLoading || courses.isLoading}>
          <Figures board={board} courses={courses.data} chosen={measure} />
          {measure ? (
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
            board={board}
            hrefOf={hrefOf}
            questionOf={furtherHref}
            onFilter={(condition) => setConditions(withCondition(conditions, condition))}
            onKind={(kind) => navigate(listHref(projectId, 'events', { kind }))}
          />
          <Goals
            key={projectId}
            projectId={projectId}
            conditions={bots && asked}
            includeCookieless={isCounted}
          />
        </div>
      )}
    </>
  );
}

function Head(props: Pick<Parameters<typeof FilterBar>[0], 'conditions' | 'bots' | 'onChange'>) {
  return (
    <div class="page-head">
      <h1 tabIndex={-1}>Overview</h1>
      <div class="row">
        <FilterBar {...props} />
        <SegmentBar chosen={segmentsOfAddress()} onChange={setSegments} />
        <RangePicker />
      </div>
    </div>
  );
}

type RankingProps = Parameters<typeof RankingCard>[0];

function Rankings(props: Omit<RankingProps, keyof (typeof cards)[number]>) {
  return (
    <div class="rankings">
      {cards.map((card) => (
        <RankingCard key={card.name} {...card} {...props} />
      ))}
    </div>
  );
}

const loadGoals = async () => (await import('../goals/goals-card.tsx')).GoalsCard;

/** At the end of the page: its code comes last, and nothing below it moves. */
function Goals(props: {
  projectId: string;
  conditions: readonly Condition[] | undefined;
  includeCookieless: boolean;
}) {
  const { projectId, conditions, includeCookieless } = props;
  const { query } = address.value;
  const range = useRange();
  const name = conditions && `${questionKey(projectId, conditions)} ${includeCookieless}`;
  const filters = { filterGroups: groupsOf(conditions ?? []), ...segmentsOfAddress() };
  const asked = { timeRange: boardTime(query, range), filters, includeCookieless };
  return <Loaded load={loadGoals} name="goals" with={{ projectId, name, asked }} />;
}

/** What the page counts: by its conditions, and of bots and cookieless visitors as the address says. */
function useCounted(projectId: string) {
  const { query } = address.value;
  const seen = useSeenVisitors(projectId);
  const conditions = readConditions(query.get('filters') ?? '');
  const bots = botsOf(seen);
  return {
    ...{ conditions, bots, asked: withoutBots(conditions, bots) },
    cookieless: hasCookieless(seen),
    isCounted: query.get('cookieless') !== '0',
  };
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
          {props.questionHref ? <a href={props.questionHref}>Ask further</a> : null}
          <RowsOf measure={measure} projectId={props.projectId} />
        </div>
      </footer>
    </section>
  );
}
