// The conditions of a question, a text for each that all counted events meet.

import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { fromPropertyFilter, inWords } from '../filter/condition.ts';

type Filters = Pick<InsightQuerySpec, 'filterGroups' | 'filterGroupsOperator'>;

export function filtersInWords({ filterGroups, filterGroupsOperator }: Filters): string[] {
  const isAnyGroup = filterGroupsOperator === LogicalOperator.OR && filterGroups.length > 1;
  const groups = filterGroups.map(({ filters, operator }) => {
    const isAny = isAnyGroup || (operator === LogicalOperator.OR && filters.length > 1);
    const texts = filters.map((filter) => inWords(fromPropertyFilter(filter), isAny));
    return texts.join(wordOf(operator));
  });
  return isAnyGroup ? [groups.join(wordOf(filterGroupsOperator))] : groups;
}

function wordOf(operator: LogicalOperator): string {
  return operator === LogicalOperator.OR ? ' or ' : ' and ';
}
