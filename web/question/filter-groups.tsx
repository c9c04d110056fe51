// Conditions on every event of a question, in groups: all or any within a group, all or any between groups.

import { create } from '@bufbuild/protobuf';
import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type FilterGroup,
  FilterGroupSchema,
  type InsightQuerySpec,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Select } from '../fields/field.tsx';
import { Group } from '../fields/group.tsx';
import { fromPropertyFilter, toPropertyFilter } from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { Icon } from '../ui/icon.tsx';

const { AND, OR } = LogicalOperator;

export function FilterGroups(props: {
  spec: InsightQuerySpec;
  onChange: (changes: Pick<InsightQuerySpec, 'filterGroups' | 'filterGroupsOperator'>) => void;
}) {
  const { filterGroups, filterGroupsOperator } = props.spec;
  const shown = filterGroups.length > 0 ? filterGroups : [create(FilterGroupSchema)];
  const change = (groups: FilterGroup[], operator = filterGroupsOperator): void =>
    props.onChange({ filterGroups: groups, filterGroupsOperator: operator });
  const put = (index: number, next: FilterGroup): void =>
    change(
      shown
        .map((one, at) => (at === index ? next : one))
        .filter(({ filters }) => filters.length > 0),
    );
  return (
    <Group title="Only events where" isUsed={filterGroups.length > 0}>
      {shown.map((group, index) => (
        <div class="filter-group" key={`${index}`}>
          {group.filters.length > 1 ? (
            <Match
              label={`Group ${index + 1}`}
              value={group.operator}
              onValue={(operator) => put(index, { ...group, operator })}
            />
          ) : null}
          <FilterBar
            label={`Filters, group ${index + 1}`}
            conditions={group.filters.map(fromPropertyFilter)}
            onChange={(next) => put(index, { ...group, filters: next.map(toPropertyFilter) })}
          />
        </div>
      ))}
      {filterGroups.length > 1 ? (
        <Match
          label="Groups"
          value={filterGroupsOperator}
          onValue={(operator) => change(filterGroups, operator)}
        />
      ) : null}
      {filterGroups.length > 0 && filterGroups.every(({ filters }) => filters.length > 0) ? (
        <AddGroup onAdd={(group) => change([...filterGroups, group])} />
      ) : null}
    </Group>
  );
}

/** A group is made with its first condition, so that none is ever empty. */
function AddGroup({ onAdd }: { onAdd: (group: FilterGroup) => void }) {
  return (
    <div class="row tight">
      <Icon name="plus" />
      <small>another group:</small>
      <FilterBar
        label="Filters of another group"
        conditions={[]}
        onChange={(next) =>
          onAdd(create(FilterGroupSchema, { filters: next.map(toPropertyFilter) }))
        }
      />
    </div>
  );
}

function Match(props: {
  label: string;
  value: LogicalOperator;
  onValue: (operator: LogicalOperator) => void;
}) {
  return (
    <Select
      label={`${props.label}: how they combine`}
      isLabelHidden
      value={props.value === OR ? 'any' : 'all'}
      options={[
        { value: 'all', name: 'All of them hold' },
        { value: 'any', name: 'Any of them holds' },
      ]}
      onValue={(value) => props.onValue(value === 'any' ? OR : AND)}
    />
  );
}
