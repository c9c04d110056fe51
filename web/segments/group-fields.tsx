// The builder of a segment's condition: groups of tests, each with its fields.

import { create } from '@bufbuild/protobuf';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  FilterOperator,
  LogicalOperator,
  PropertyFilterSchema,
} from '../../proto/gen/common/v1/filter_pb.js';
import {
  BehaviourSchema,
  type Condition,
  type ConditionGroup,
  FirstSeenSchema,
  type ProfileTest,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { Select } from '../fields/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import {
  conditionOf,
  groupOf,
  type Match,
  matchOf,
  mayAddGroup,
  mayAddTest,
  testOf,
  withMatch,
} from './groups.ts';
import { TestFields } from './test-fields.tsx';

const matches: readonly { value: Match; name: string }[] = [
  { value: 'all', name: 'All of these hold' },
  { value: 'any', name: 'Any of these holds' },
  { value: 'none', name: 'None of these holds' },
  { value: 'not all', name: 'Not all of these hold' },
];

const event = {};
const lastDays = 30;

/** What can be added, as it begins. */
const starts: readonly { name: string; start: () => ProfileTest['test'] }[] = [
  {
    name: 'Did something',
    start: () => ({
      case: 'did',
      value: create(BehaviourSchema, { event, times: { case: 'atLeast', value: 1 }, lastDays }),
    }),
  },
  {
    name: 'Never did something',
    start: () => ({
      case: 'did',
      value: create(BehaviourSchema, { event, times: { case: 'atMost', value: 0 } }),
    }),
  },
  {
    name: 'Has a trait',
    start: () => ({
      case: 'trait',
      value: create(PropertyFilterSchema, { operator: FilterOperator.EQUALS }),
    }),
  },
  {
    name: 'Was first seen',
    start: () => ({
      case: 'firstSeen',
      value: create(FirstSeenSchema, { when: { case: 'lastDays', value: lastDays } }),
    }),
  },
];

/** What a new segment begins with. */
export function firstCondition(): Condition {
  const tests = starts.slice(0, 1).map(({ start }) => testOf(start()));
  return conditionOf([groupOf(tests)]);
}

export function ConditionGroups(props: {
  condition: Condition;
  onChange: (next: Condition) => void;
}) {
  const { condition, onChange } = props;
  const { groups, operator } = condition;
  const put = (next: ConditionGroup[]): void => onChange({ ...condition, groups: next });
  const isOne = groups.length <= 1;
  return (
    <div class="condition-groups">
      {isOne ? null : (
        <Select
          label="How the groups combine"
          isLabelHidden
          value={operator === LogicalOperator.OR ? 'any' : 'all'}
          options={[
            { value: 'all', name: 'All groups hold' },
            { value: 'any', name: 'Any group holds' },
          ]}
          onValue={(match) => onChange(conditionOf(groups, match === 'any'))}
        />
      )}
      {groups.map((group, index) => (
        <Group
          key={`${index}`}
          name={isOne ? '' : `Group ${index + 1}`}
          group={group}
          mayAdd={mayAddTest(condition)}
          onChange={(next) => put(groups.map((one, at) => (at === index ? next : one)))}
          onRemove={() => put(groups.filter((_, at) => at !== index))}
        />
      ))}
      {mayAddGroup(condition) ? (
        <button type="button" class="add" onClick={() => put([...groups, groupOf()])}>
          <Icon name="plus" />
          Add a group of conditions
        </button>
      ) : null}
    </div>
  );
}

/** `name`: empty where it is the only one, which has no frame. */
function Group(props: {
  name: string;
  group: ConditionGroup;
  mayAdd: boolean;
  onChange: (next: ConditionGroup) => void;
  onRemove: () => void;
}) {
  const { name } = props;
  if (name === '') return <Tests {...props} />;
  return (
    <fieldset class="series">
      <legend>{name}</legend>
      <Tests {...props} />
      <Remove name={name} onRemove={props.onRemove} />
    </fieldset>
  );
}

function Tests(props: {
  name: string;
  group: ConditionGroup;
  mayAdd: boolean;
  onChange: (next: ConditionGroup) => void;
}) {
  const { name, group, onChange } = props;
  const { tests } = group;
  const box = useRef<HTMLDivElement>(null);
  const focusOn = useFocusAfterChange(box, tests.length);
  const put = (next: ProfileTest[]): void => onChange({ ...group, tests: next });
  const ofGroup = name === '' ? '' : ` of ${name.toLowerCase()}`;
  return (
    <div class="condition-groups" ref={box}>
      {tests.length > 1 || group.negated ? (
        <Select
          label={`How the conditions${ofGroup} combine`}
          isLabelHidden
          value={matchOf(group)}
          options={matches}
          onValue={(match) => onChange(withMatch(group, match))}
        />
      ) : null}
      {tests.map((test, index) => (
        <Test
          key={`${index}`}
          name={`Condition ${index + 1}${ofGroup}`}
          test={test}
          onChange={(next) => put(tests.map((one, at) => (at === index ? next : one)))}
          onRemove={() => {
            put(tests.filter((_, at) => at !== index));
            focusOn(':scope > .menu > button');
          }}
        />
      ))}
      {props.mayAdd ? (
        <Adder
          label={name === '' ? 'Add a condition' : `Add a condition to ${name.toLowerCase()}`}
          onAdd={(test) => {
            put([...tests, test]);
            focusOn(`:scope > .series:nth-of-type(${tests.length + 1}) :is(input, select)`);
          }}
        />
      ) : null}
    </div>
  );
}

/** Takes the focus to what a selector finds, once the number of tests has changed. */
function useFocusAfterChange(box: { current: HTMLElement | null }, count: number) {
  const [wanted, setWanted] = useState<string>();
  useLayoutEffect(() => {
    if (wanted === undefined) return;
    setWanted(undefined);
    // Before the next key is read, as in a dialog.
    box.current?.querySelector<HTMLElement>(wanted)?.focus();
  }, [count]);
  return setWanted;
}

function Test(props: {
  name: string;
  test: ProfileTest;
  onChange: (next: ProfileTest) => void;
  onRemove: () => void;
}) {
  const { name, test, onChange, onRemove } = props;
  return (
    <fieldset class="series">
      <legend>{name}</legend>
      <TestFields name={name} test={test} onChange={onChange} />
      <Remove name={name} onRemove={onRemove} />
    </fieldset>
  );
}

function Remove({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <div class="series-tools">
      <button
        type="button"
        class="quiet"
        aria-label={`Remove ${name.toLowerCase()}`}
        onClick={onRemove}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}

function Adder({ label, onAdd }: { label: string; onAdd: (test: ProfileTest) => void }) {
  return (
    <Menu
      label={label}
      class="add"
      button={
        <>
          <Icon name="plus" />
          Add a condition
        </>
      }
    >
      {starts.map(({ name, start }) => (
        <MenuItem key={name} onChoose={() => onAdd(testOf(start()))}>
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}
