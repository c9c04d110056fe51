// The fields of one test of a segment: a trait, when somebody was first seen, or how often somebody did something.

import { timestampFromDate, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { plural } from '../../platform/words/figures.ts';
import type {
  Behaviour,
  FirstSeen,
  ProfileTest,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { Check, Field, Select } from '../fields/field.tsx';
import { NumberField } from '../fields/number-field.tsx';
import { toPropertyFilter } from '../filter/condition.ts';
import { ConditionFields } from '../filter/condition-fields.tsx';
import { ScopeFields } from '../question/scope-fields.tsx';
import { currentZone } from '../time/time.tsx';
import { dayText, parseDay } from '../time/zone.ts';
import { traitCondition } from './condition-words.ts';

/** As the service has them. */
const maxDays = 3_660;
const maxTimes = 1_000_000;

/** No moment: a field that somebody emptied. */
const noTime = timestampFromMs(0);

/** `name`: of its filters. */
export function TestFields(props: {
  name: string;
  test: ProfileTest;
  onChange: (next: ProfileTest) => void;
}) {
  const { test, onChange } = props;
  return (
    <>
      <Looked {...props} test={test.test} onChange={(next) => onChange({ ...test, test: next })} />
      <Check
        label="Not: whoever does not meet it"
        checked={test.negated}
        onValue={(negated) => onChange({ ...test, negated })}
      />
    </>
  );
}

type Look = ProfileTest['test'];

function Looked(props: { name: string; test: Look; onChange: (next: Look) => void }) {
  const { name, test, onChange } = props;
  switch (test.case) {
    case 'trait':
      return (
        <div class="row">
          <ConditionFields
            of="users"
            condition={traitCondition(test.value)}
            onChange={(next) => onChange({ case: 'trait', value: toPropertyFilter(next) })}
          />
        </div>
      );
    case 'firstSeen':
      return (
        <FirstSeenFields
          seen={test.value}
          onChange={(when) => onChange({ case: 'firstSeen', value: { ...test.value, when } })}
        />
      );
    case 'did':
      return (
        <BehaviourFields
          name={name}
          did={test.value}
          onChange={(changes) => onChange({ case: 'did', value: { ...test.value, ...changes } })}
        />
      );
    case 'listed':
      return (
        <p class="hint">
          {plural(test.value.profileIds.length, 'user')}, listed when the segment was made.
        </p>
      );
    default:
      return null;
  }
}

const moments = [
  { value: 'lastDays', name: 'In the last days' },
  { value: 'since', name: 'On a day or later' },
  { value: 'before', name: 'Before a day' },
] as const;

function FirstSeenFields(props: { seen: FirstSeen; onChange: (when: FirstSeen['when']) => void }) {
  const { seen, onChange } = props;
  const { when } = seen;
  const zone = currentZone();
  const choose = (which: (typeof moments)[number]['value']): void => {
    if (which === 'lastDays') onChange({ case: which, value: 30 });
    else onChange({ case: which, value: noTime });
  };
  return (
    <div class="row">
      <Select
        label="First seen"
        value={when.case ?? 'lastDays'}
        options={moments}
        onValue={choose}
      />
      {when.case === 'since' || when.case === 'before' ? (
        <Field
          label="Day"
          type="date"
          value={
            timestampMs(when.value) === 0 ? '' : dayText(new Date(timestampMs(when.value)), zone)
          }
          hint={`It begins in ${zone}.`}
          onValue={(text) => {
            const day = parseDay(text, zone);
            onChange({ case: when.case, value: day ? timestampFromDate(day) : noTime });
          }}
        />
      ) : (
        <NumberField
          label="Days"
          value={when.value || undefined}
          most={maxDays}
          onValue={(value = 0) => onChange({ case: 'lastDays', value })}
        />
      )}
    </div>
  );
}

const bounds = [
  { value: 'atLeast', name: 'At least' },
  { value: 'atMost', name: 'At most' },
] as const;

/** Of a field of days that somebody emptied: 0 would be the range of the question. */
const noDays = -1;

function BehaviourFields(props: {
  did: Behaviour;
  name: string;
  onChange: (changes: Partial<Behaviour>) => void;
}) {
  const { did, name, onChange } = props;
  const { times, lastDays } = did;
  return (
    <>
      <ScopeFields
        label="Event"
        filtersLabel={`${name}: filters`}
        scope={did.event}
        onChange={(event) => onChange({ event })}
      />
      <div class="row">
        <Select
          label="How often"
          value={times.case ?? 'atLeast'}
          options={bounds}
          onValue={(bound) => onChange({ times: { case: bound, value: times.value || 1 } })}
        />
        <NumberField
          label={times.case === 'atMost' ? 'Times, 0 is never' : 'Times'}
          value={times.case === 'atLeast' && times.value === 0 ? undefined : times.value}
          most={maxTimes}
          onValue={(value = 0) => onChange({ times: { case: times.case ?? 'atLeast', value } })}
        />
      </div>
      <div class="row">
        <Select
          label="When"
          value={lastDays === 0 ? 'range' : 'days'}
          options={[
            { value: 'days', name: 'In the last days' },
            { value: 'range', name: 'In the range of the insight' },
          ]}
          onValue={(when) => onChange({ lastDays: when === 'days' ? 30 : 0 })}
          hint={lastDays === 0 ? 'Where there is no range, as in lists of users: ever.' : ''}
        />
        {lastDays === 0 ? null : (
          <NumberField
            label="Days"
            value={lastDays < 0 ? undefined : lastDays}
            most={maxDays}
            onValue={(days) => onChange({ lastDays: days || noDays })}
          />
        )}
      </div>
    </>
  );
}
