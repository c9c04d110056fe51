// What can be done with a question: save it to a board, make an alert of it, copy it as JSON or as a command.

import { useState } from 'preact/hooks';
import type { AnswerSource, QueryRequest } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { requestCurl, requestJson, writeSpec } from '../question/ask.ts';
import type { QuestionForm } from '../question/forms.ts';
import { copyText } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { hasRole, Role } from '../workspace.ts';
import type { QuestionState } from './question-state.ts';

const loadCode = async () => (await import('./question-code.tsx')).QuestionCode;
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
      <Menu label="Copy insight" align="end" button={<Icon name="copy" />}>
        <MenuItem onChoose={() => void copyText(window.location.href, 'Link')}>
          Link to this page
        </MenuItem>
        <MenuItem onChoose={() => void copyText(requestJson(request), 'JSON')}>
          Insight as JSON
        </MenuItem>
        <MenuItem onChoose={() => void copyText(requestCurl(request), 'Command')}>
          Insight as curl
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
        <Dialog title="Insight as code" onClose={close}>
          <Loaded load={loadCode} name="the code" with={{ request, sources }} />
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
  const more = spec.rollingDays + spec.movingAverage;
  return isOne && isOfPeriod && breakdowns.length + formulas.length + more === 0;
}
