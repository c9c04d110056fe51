// The answer to the page's question, with what can be taken away of it.

import { createClient } from '@connectrpc/connect';
import { useMemo, useState } from 'preact/hooks';
import {
  type InsightQuerySpec,
  InsightsService,
  type QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';
import { CookielessNote } from '../filter/cookieless.tsx';
import { requestOf, writeSpec } from '../question/ask.ts';
import type { QuestionForm } from '../question/forms.ts';
import { rowsHref } from '../question/rows-link.ts';
import { countsUsers } from '../question/series/counts-users.ts';
import { useResource } from '../resource.ts';
import { DrawingField } from '../results/drawings/drawing-field.tsx';
import { drawingOf } from '../results/drawings/drawings.ts';
import { InsightResult } from '../results/insight-result.tsx';
import { Provenance } from '../results/provenance.tsx';
import type { Opened, Rows } from '../results/shown.ts';
import { Updating } from '../retries/updating.tsx';
import { address, navigate, setQuery } from '../router.ts';
import { timeQuery } from '../time/kept-range.ts';
import { PrintedTime } from '../time/printed-time.tsx';
import { currentZone, formatTime } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Loading } from '../ui/loading.tsx';
import type { QuestionState } from './question-state.ts';

const loadTakeAway = async () => (await import('./take-away.tsx')).TakeAway;
const loadPersons = async () => (await import('./persons-drawer.tsx')).PersonsDrawer;

const insights = createClient(InsightsService, transport);

/** `spec`: what was asked, as the next question may stand beside this answer for a moment. */
type Answers = {
  spec: InsightQuerySpec;
  answer: QueryResponse;
};

type Asked = Parameters<typeof requestOf>[0];

function useAnswers(projectId: string, question: QuestionState, asked: Asked, written: string) {
  const { range, granularity, asOf, isReady } = question;
  const { spec, zone } = asked;
  const time = `${range.from.getTime()} ${range.to.getTime()} ${granularity} ${zone}`;
  const key = `insight ${projectId} ${time} ${asOf?.getTime() ?? ''} ${written}`;
  return useResource<Answers>(isReady ? key : undefined, async (end) => {
    const request = { ...requestOf(asked), explain: true };
    return { spec, answer: await insights.query(request, inProject(projectId, end)) };
  });
}

export function Answer(props: { projectId: string; form: QuestionForm; question: QuestionState }) {
  const { projectId, form, question } = props;
  const { range, granularity, asOf, isReady } = question;
  const zone = currentZone();
  const written = writeSpec(question.spec);
  // The same object for the same question, so that the chart is drawn once.
  const spec = useMemo(() => question.spec, [written]);
  const asked = { spec, from: range.from, to: range.to, granularity, zone, asOf };
  const { data, error, isLoading, reload } = useAnswers(projectId, question, asked, written);
  const time = timeQuery(address.value.query);
  const of = { projectId, spec, conditions: [], time, granularity };
  const open = (rows: Rows): void => {
    const href = rowsHref(of, rows);
    if (href) navigate(href);
  };
  const all = rowsHref(of, { kind: '' });
  const drawing = address.value.query.get('drawing') ?? undefined;
  const isLow = spec.breakdowns.length === 0 && drawingOf(spec, drawing) === 'number';
  const [opened, setOpened] = useState<Opened>();
  // Visits are no persons.
  const onPersons = spec.session === undefined ? setOpened : undefined;
  return (
    <section class="card answer" aria-label="Answer" aria-busy={isLoading || !isReady}>
      <header>
        <Updating isOn={isLoading && data !== undefined}>
          <h2>{range.name}</h2>
        </Updating>
        <div class="row answer-tools">
          <DrawingField
            {...{ spec, isLabelHidden: true, chosen: drawing }}
            onValue={(id) => setQuery({ drawing: id })}
          />
          <Loaded
            load={loadTakeAway}
            with={{
              ...{ projectId, form, question, request: requestOf(asked) },
              sources: data?.answer.sources ?? [],
            }}
          />
        </div>
      </header>
      {question.missing ? <p class="hint">{question.missing}</p> : null}
      {error ? <Fault cause={error} retry={reload} /> : null}
      <div class="answer-body" data-low={isLow}>
        {data && !error && data.spec.insightType === spec.insightType ? (
          <InsightResult
            label={form.name}
            spec={data.spec}
            answer={data.answer}
            granularity={granularity}
            drawing={drawing}
            height={form.id === 'user-flow' ? 460 : 340}
            {...(all ? { onOpen: open } : {})}
            onPersons={onPersons}
          />
        ) : error ? null : (
          <Loading of="the answer" />
        )}
      </div>
      {opened
        ? personsOf(projectId, asked, opened, rowsHref(of, opened.rows), () => setOpened(undefined))
        : null}
      {data && !error ? (
        <AnswerFooter answer={data.answer} question={question} eventsHref={all} />
      ) : null}
    </section>
  );
}

function personsOf(
  projectId: string,
  asked: Asked,
  { title, figures }: Opened,
  eventsHref: string | undefined,
  onClose: () => void,
) {
  const opened = { projectId, asked, title, figures, eventsHref, onClose };
  return <Loaded load={loadPersons} name="the users" with={opened} />;
}

function AnswerFooter(props: {
  answer: QueryResponse;
  question: QuestionState;
  eventsHref: string | undefined;
}) {
  const { answer, question, eventsHref } = props;
  const { from, to } = question.range;
  const dayOf = (moment: Date): string => formatTime(moment, 'day');
  const lastMoment = new Date(to.getTime() - 1);
  return (
    <footer class="row between">
      <div class="provenance">
        <PrintedTime of={answer} days={[dayOf(from), dayOf(lastMoment)]} zone={currentZone()} />
        <Provenance answer={answer} />
        <Cookieless question={question} />
      </div>
      {eventsHref ? <a href={eventsHref}>View events</a> : null}
    </footer>
  );
}

/** Nothing where no number depends on it. */
function Cookieless({ question: { spec, hasCookieless } }: { question: QuestionState }) {
  if (hasCookieless !== true || !countsUsers(spec)) return null;
  const { includeCookieless: isCounted } = spec;
  return (
    <CookielessNote
      isCounted={isCounted}
      onTurn={() => setQuery({ q: writeSpec({ ...spec, includeCookieless: !isCounted }) })}
    />
  );
}
