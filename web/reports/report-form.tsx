// The fields of a report, for a new one and for changes: the board, when it is sent, and to whom.

import { useState } from 'preact/hooks';
import {
  type Report,
  ReportFrequency,
  type ReportSchedule,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { dashboards } from '../boards/board-data.ts';
import { inProject } from '../client.ts';
import { Field, Select, TextArea } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { MembersField, stillMembers, useMembersOfProject } from '../fields/members-field.tsx';
import { useResource } from '../resource.ts';
import { session } from '../session.ts';
import { currentZone } from '../time/time.tsx';
import { currentWeekStart, weekdayNames, weekdayOptions } from '../time/weekdays.ts';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';
import { frequencies, hours, reportsClient } from './report-words.ts';

const usualHour = 8;
const mailHint = 'Members whose address is proven get it, with a link to leave.';

/** Without `before` the report is new; `boardId` is what it begins with. */
export function ReportForm(props: {
  projectId: string;
  before?: Report;
  boardId: string;
  onSaved: (id: string) => void;
}) {
  const { projectId, before } = props;
  const me = session.value.state === 'signed-in' ? session.value.person.id : '';
  const recipients = before?.recipients ?? [];
  const [displayName, setDisplayName] = useState(before?.displayName ?? '');
  const [boardId, setBoardId] = useState(before?.dashboardId ?? props.boardId);
  const [schedule, setSchedule] = useState(chosenOf(before?.schedule));
  const [told, setTold] = useState<readonly string[]>(
    before ? recipients.flatMap(({ customerId }) => customerId || []) : [me],
  );
  const [emails, setEmails] = useState(recipients.flatMap(({ email }) => email || []).join('\n'));
  const members = useMembersOfProject(projectId);
  const send = async (): Promise<void> => {
    const fields = {
      displayName,
      dashboardId: boardId,
      schedule: {
        ...{ frequency: Number(schedule.frequency), hour: Number(schedule.hour) },
        ...{ weekday: Number(schedule.weekday), dayOfMonth: Number(schedule.dayOfMonth) },
      },
    };
    const named = { customerIds: stillMembers(told, members), emails: linesOf(emails) };
    const call = inProject(projectId);
    const { report } = before
      ? await reportsClient.update({ ...fields, id: before.id, recipients: named }, call)
      : await reportsClient.create({ ...fields, ...named }, call);
    toast('Saved');
    props.onSaved(report?.id ?? '');
  };
  return (
    <Form
      action={before ? 'Save the report' : 'Create report'}
      send={send}
      isReady={displayName.trim() !== ''}
    >
      <Field
        label="Name"
        placeholder="Every Monday"
        maxLength={150}
        required
        value={displayName}
        onValue={setDisplayName}
      />
      <BoardField projectId={projectId} value={boardId} onValue={setBoardId} />
      <ScheduleFields value={schedule} onChange={setSchedule} />
      <MembersField members={members ?? []} told={told} onChange={setTold} hint={mailHint} />
      {hasRole(Role.ADMIN) || emails !== '' ? (
        <TextArea
          label="Addresses of others"
          hint="One per line, of recipients who are not members: each is asked first. They see what a shared board shows, without users’ names."
          rows={3}
          value={emails}
          onValue={setEmails}
        />
      ) : null}
    </Form>
  );
}

/** As the fields hold it. */
interface Chosen {
  frequency: string;
  weekday: string;
  dayOfMonth: string;
  hour: string;
}

function chosenOf(schedule: ReportSchedule | undefined): Chosen {
  return {
    frequency: String(schedule?.frequency ?? ReportFrequency.WEEKLY),
    weekday: String(schedule?.weekday || currentWeekStart()),
    dayOfMonth: String(schedule?.dayOfMonth || 1),
    hour: String(schedule?.hour ?? usualHour),
  };
}

/** "About the last week from Monday to Sunday." */
function weekHint(): string {
  const first = currentWeekStart();
  const last = (first + 5) % 7;
  return `About the last week from ${weekdayNames[first - 1]} to ${weekdayNames[last]}.`;
}

function ScheduleFields(props: { value: Chosen; onChange: (value: Chosen) => void }) {
  const { value, onChange } = props;
  const set = (name: keyof Chosen) => (text: string) => onChange({ ...value, [name]: text });
  return (
    <fieldset>
      <legend>Send it</legend>
      <Select
        label="How often"
        value={value.frequency}
        options={frequencies}
        onValue={set('frequency')}
      />
      <div class="row">
        {value.frequency === String(ReportFrequency.WEEKLY) ? (
          <Select
            label="On"
            hint={weekHint()}
            value={value.weekday}
            options={weekdayOptions(currentWeekStart())}
            onValue={set('weekday')}
          />
        ) : null}
        {value.frequency === String(ReportFrequency.MONTHLY) ? (
          <Field
            label="On day"
            hint="In a shorter month its last day."
            type="number"
            min="1"
            max="31"
            value={value.dayOfMonth}
            onValue={set('dayOfMonth')}
          />
        ) : null}
        <Select
          label="At"
          hint={`On the clock of ${currentZone()}.`}
          value={value.hour}
          options={hours}
          onValue={set('hour')}
        />
      </div>
    </fieldset>
  );
}

function BoardField(props: { projectId: string; value: string; onValue: (id: string) => void }) {
  const { projectId, value, onValue } = props;
  const { data } = useResource(`boards ${projectId}`, (end) =>
    dashboards.list({}, inProject(projectId, end)),
  );
  const known = (data?.dashboards ?? []).map(({ id, displayName }) => ({
    value: id,
    name: displayName,
  }));
  const isKnown = known.some((one) => one.value === value);
  const gone = data ? 'A board that is gone' : 'The board';
  const options = isKnown ? known : [{ value, name: gone }, ...known];
  return <Select label="Board" value={value} options={options} onValue={onValue} />;
}

function linesOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter((line) => line !== '');
}
