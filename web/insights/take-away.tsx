// What can be done with a question: save it to a board, make an alert of it, copy it as JSON or as a command.

import { useState } from 'preact/hooks';
import type { AnswerSource, QueryRequest } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { requestCurl, requestJson, writeSpec } from '../question/ask.ts';
import type { QuestionForm } from '../question/forms.ts';
import { Code, copyText } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { hasRole, Role } from '../workspace.ts';
import type { QuestionState } from './question-state.ts';

const loadSave = async () => (await import('./save-dialog.tsx')).SaveDialog;

export function TakeAway(props: {
  projectId: string;
  form: QuestionForm;
  question: QuestionState;
  request: QueryRequest;
  /** Of the answer that is shown. */
  sources: readonly AnswerSource[];
}) {
  const { request, sources, question } = props;
  const [open, setOpen] = useState<'save' | 'code'>();
  const close = (): void => setOpen(undefined);
  return (
    <div class="row tight">
      <Menu label="Copy the question" align="end" button={<Icon name="copy" />}>
        <MenuItem onChoose={() => void copyText(window.location.href, 'Link')}>
          Link to this page
        </MenuItem>
        <MenuItem onChoose={() => void copyText(requestJson(request), 'JSON')}>
          Question as JSON
        </MenuItem>
        <MenuItem onChoose={() => void copyText(requestCurl(request), 'Command')}>
          Question as curl
        </MenuItem>
        <MenuItem onChoose={() => setOpen('code')}>Show both</MenuItem>
      </Menu>
      {hasRole(Role.MEMBER) && mayAlert(props.form, question.spec) ? (
        <a
          class="button"
          href={`/p/${props.projectId}/alerts?${new URLSearchParams({ form: props.form.id, q: writeSpec(question.spec) })}`}
        >
          Alert
        </a>
      ) : null}
      {hasRole(Role.MEMBER) ? (
        <button type="button" class="primary" onClick={() => setOpen('save')}>
          Save to a board
        </button>
      ) : null}
      {open === 'code' ? (
        <Dialog title="The question in code" onClose={close}>
          <h3>JSON</h3>
          <Code what="Question as JSON" text={requestJson(request)} />
          <h3>curl</h3>
          <p class="hint">Put a private key of the project in the place of YOUR_PRIVATE_KEY.</p>
          <Code what="Question as curl" text={requestCurl(request)} />
          <Sources of={sources} />
        </Dialog>
      ) : null}
      {open === 'save' ? (
        <Loaded load={loadSave} name="boards" with={{ ...props, onClose: close }} />
      ) : null}
    </div>
  );
}

/** An alert has one number, of its own period. */
function mayAlert({ id }: QuestionForm, spec: QuestionState['spec']): boolean {
  const { events, breakdowns, formulas } = spec;
  const isOne = id === 'sessions' || (events.length === 1 && /^(trends|segmentation)$/.test(id));
  const isOfPeriod = !spec.cumulative && events.every(({ rollingDays }) => rollingDays < 2);
  return isOne && isOfPeriod && breakdowns.length + formulas.length + spec.rollingDays === 0;
}

/** Which rows the answer was counted from, and why not from others. */
function Sources({ of }: { of: readonly AnswerSource[] }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>Where the answer comes from</h3>
      <ul>
        {of.map(({ need, source, refused }) => (
          <li key={`${need} ${source}`}>
            {need}: <code>{source}</code>
            {refused.length === 0 ? null : (
              <ul class="hint">
                {refused.map((one) => (
                  <li key={one.source}>
                    not <code>{one.source}</code>: {one.reason}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
