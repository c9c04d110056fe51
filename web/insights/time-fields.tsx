// The time of a question beside its range: buckets, the range before, and the moment until which events count.

import { Compare } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Field, Select } from '../fields/field.tsx';
import { Group } from '../fields/group.tsx';
import { granularities } from '../question/ask.ts';
import type { QuestionForm } from '../question/forms.ts';
import { address, setQuery } from '../router.ts';
import { currentZone } from '../time/time.tsx';
import { dayText, parseDay, startOfDayAt } from '../time/zone.ts';
import type { QuestionState } from './question-state.ts';

const periods = [
  { value: String(Compare.UNSPECIFIED), name: 'Nothing' },
  { value: String(Compare.PREVIOUS_PERIOD), name: 'Previous period' },
  { value: String(Compare.PREVIOUS_WEEK), name: 'A week before' },
  { value: String(Compare.PREVIOUS_MONTH), name: 'A month before' },
  { value: String(Compare.PREVIOUS_YEAR), name: 'A year before' },
];

export function TimeFields({ form, question }: { form: QuestionForm; question: QuestionState }) {
  const zone = currentZone();
  const { query } = address.value;
  const by = granularities.find(({ value }) => value === query.get('by'))?.value ?? '';
  const { asOf } = question;
  // Events received on the day itself count, so the moment is the end of it.
  const asOfDay = asOf ? dayText(new Date(asOf.getTime() - 1), zone) : '';
  return (
    <Group title="Time" isUsed={by !== '' || asOf !== undefined || question.draft.compare > 0}>
      {form.hasBuckets || question.draft.funnel?.overTime ? (
        <Select
          label="Bucket"
          value={by}
          options={[{ value: '', name: 'Automatic' }, ...granularities]}
          onValue={(value) => setQuery({ by: value })}
        />
      ) : null}
      {form.hasBefore ? (
        <Select
          label="Compare with"
          value={String(question.draft.compare)}
          options={periods}
          onValue={(compare) => question.change({ ...question.draft, compare: Number(compare) })}
        />
      ) : null}
      <Field
        label="As of the end of"
        type="date"
        value={asOfDay}
        hint={`Events received later are left out. Empty: all are counted. Days are those of ${zone}.`}
        onValue={(text) => {
          const day = parseDay(text, zone);
          setQuery({ asof: day ? startOfDayAt(day, zone, 1).toISOString() : undefined });
        }}
      />
    </Group>
  );
}
