// A figure's question on the page of questions, where it can be changed and taken away as JSON, curl and CSV.

import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type {
  FilterGroup,
  InsightQuerySpec,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { writeSpec } from './ask.ts';
import { formOf } from './forms.ts';

export type QuestionOf = {
  projectId: string;
  spec: InsightQuerySpec;
  /** Those of the page or board, which hold besides the question's own. */
  filterGroups: readonly FilterGroup[];
  /** `range`, `from` and `to` of the address. */
  time: Record<string, string>;
  /** The drawing that was chosen. */
  drawing?: string | undefined;
};

/** undefined where one question cannot say it. */
export function questionHref({
  projectId,
  spec,
  filterGroups,
  time,
  drawing,
}: QuestionOf): string | undefined {
  const whole = withGroups(spec, filterGroups);
  if (!whole) return undefined;
  const query = new URLSearchParams({
    ...{ ...time, q: writeSpec(whole) },
    ...(drawing && { drawing }),
  });
  return `/p/${projectId}/insights/${formOf(spec).id}?${query}`;
}

/** undefined where its own groups are alternatives, and others must hold besides: one question cannot say it. */
export function withGroups(
  spec: InsightQuerySpec,
  groups: readonly FilterGroup[],
): InsightQuerySpec | undefined {
  const isEither = spec.filterGroups.length > 1 && spec.filterGroupsOperator === LogicalOperator.OR;
  if (isEither && groups.length > 0) return undefined;
  return { ...spec, filterGroups: [...spec.filterGroups, ...groups] };
}
