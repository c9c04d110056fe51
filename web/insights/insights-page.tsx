// A question on the left, its answer on the right; in one column the answer, and the question in a drawer. The address
// holds all of it.

import { useState } from 'preact/hooks';
import { useMedia } from '../browser/media.ts';
import { usePlot } from '../charts/plot-code.ts';
import { oneColumn } from '../fields/group.tsx';
import { writeSpec } from '../question/ask.ts';
import { asForm, formById, forms, type QuestionForm } from '../question/forms.ts';
import { areFieldsLoaded, loadOwnFields } from '../question/own/own-fields.tsx';
import { QuestionFields } from '../question/question-form.tsx';
import { questionName } from '../results/names.ts';
import { HeadInSight } from '../retries/head-in-sight.tsx';
import type { PageProps } from '../router.ts';
import { address } from '../router.ts';
import { timeQuery } from '../time/kept-range.ts';
import { RangePicker } from '../time/range.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Loading } from '../ui/loading.tsx';
import { useTabInSight } from '../ui/tabs.tsx';
import { Answer } from './answer.tsx';
import { ChosenChips } from './chosen-chips.tsx';
import { type QuestionState, useQuestion } from './question-state.ts';
import { TimeFields } from './time-fields.tsx';
import '../styles/insights.css';

export function Page({ params }: PageProps) {
  usePlot();
  const form = formById(params['type'] ?? '');
  const projectId = params['project'] ?? '';
  if (!form) return <NoForm projectId={projectId} />;
  return <Insight projectId={projectId} form={form} />;
}

function Insight({ projectId, form }: { projectId: string; form: QuestionForm }) {
  const question = useQuestion(projectId, form);
  return (
    <>
      <HeadInSight name={form.name}>
        {question.isReady ? <ChosenChips projectId={projectId} spec={question.spec} /> : null}
        <RangePicker />
      </HeadInSight>
      <Forms projectId={projectId} here={form} question={question} />
      <p class="hint">{form.says}</p>
      {areFieldsLoaded(form.id) ? (
        <Asked projectId={projectId} form={form} question={question} />
      ) : (
        <Loaded load={loadAsked} name="the insight" with={{ projectId, form, question }} />
      )}
    </>
  );
}

type Asked = { projectId: string; form: QuestionForm; question: QuestionState };

const loadAsked = async () => {
  await loadOwnFields();
  return Asked;
};

/** Down to here the columns of a flow diagram have no place beside the question. */
const oneColumnOfPaths = '(max-width: 1500px)';

function Asked({ projectId, form, question }: Asked) {
  const isNarrow = useMedia(form.id === 'user-flow' ? oneColumnOfPaths : oneColumn);
  const answer = <Answer projectId={projectId} form={form} question={question} />;
  if (isNarrow)
    return (
      <>
        <QuestionDrawer form={form} question={question} />
        {answer}
      </>
    );
  return (
    <div class="insight">
      <section class="card" aria-label="Insight">
        <Fields form={form} question={question} />
      </section>
      {answer}
    </div>
  );
}

function Fields({ form, question }: Omit<Asked, 'projectId'>) {
  if (!question.isReady) return <Loading of="the insight" />;
  return (
    <>
      <QuestionFields spec={question.draft} onChange={question.change} />
      <TimeFields form={form} question={question} />
    </>
  );
}

/** Where there is one column the answer comes first: the question in words, and its fields in a drawer. */
function QuestionDrawer({ form, question }: Omit<Asked, 'projectId'>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="row between">
      <p class="grow">{questionName(form.name, question.spec)}</p>
      <button type="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="edit" />
        Change insight
      </button>
      {isOpen ? (
        <Dialog title="Insight" side isRead onClose={() => setOpen(false)}>
          <Fields form={form} question={question} />
          <button
            type="button"
            class="primary"
            // Closes as Esc does, so that the browser gives the focus back.
            onClick={(event) => event.currentTarget.closest('dialog')?.close()}
          >
            Show the answer
          </button>
        </Dialog>
      ) : null}
    </div>
  );
}

/** The other forms, with what they take of this question. */
function Forms(props: { projectId: string; here: QuestionForm; question: QuestionState }) {
  const { projectId, here, question } = props;
  const { query } = address.value;
  const row = useTabInSight(here.id);
  const kept = { ...timeQuery(query), ...pick(query, ['by', 'asof', 'board', 'tile']) };
  return (
    <nav class="tabs" ref={row} aria-label="Forms of insights">
      {forms.map((form) => {
        const q = writeSpec(asForm(question.draft, form));
        const search = new URLSearchParams(query.has('q') ? { ...kept, q } : kept).toString();
        return (
          <a
            key={form.id}
            class="tab"
            href={`/p/${projectId}/insights/${form.id}${search ? `?${search}` : ''}`}
            aria-current={form === here ? 'page' : undefined}
          >
            {form.name}
          </a>
        );
      })}
    </nav>
  );
}

function pick(query: URLSearchParams, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name);
      return value ? [[name, value] as const] : [];
    }),
  );
}

function NoForm({ projectId }: { projectId: string }) {
  return (
    <section class="empty">
      <h1 tabIndex={-1}>There is no such insight</h1>
      <p>The address may be mistyped. These are the forms that an insight has:</p>
      <ul>
        {forms.map(({ id, name, says }) => (
          <li key={id}>
            <a href={`/p/${projectId}/insights/${id}`}>{name}</a>: {says}
          </li>
        ))}
      </ul>
    </section>
  );
}
