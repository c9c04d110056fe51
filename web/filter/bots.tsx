// Whether a page counts bots. It leaves them out unless the address says `bots=1`, and says so where the project has
// any. A project without bots is asked without a condition, which its sums answer.

import { create } from '@bufbuild/protobuf';
import { FilterOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type FilterGroup,
  FilterGroupSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Resource } from '../resource.ts';
import { address, setQuery } from '../router.ts';
import { Icon } from '../ui/icon.tsx';
import {
  botsLeftOut,
  type Condition,
  botProperty as property,
  toPropertyFilter,
} from './condition.ts';

const noBots: Condition = {
  property,
  operator: FilterOperator.NOT_EQUALS,
  values: ['true'],
  source: PropertySource.AUTO,
};

/** `none`: the project has none, or a condition of the page says which are meant. undefined: nobody knows yet. */
export type Bots = 'none' | 'left out' | 'counted' | undefined;

/** Of what the service says of the project, which may be an answer to another question. */
export function botsOf(
  { data, error }: Pick<Resource<{ hasBots?: boolean | undefined }>, 'data' | 'error'>,
  conditions: readonly Condition[] = [],
): Bots {
  if (conditions.some((one) => one.property === property)) return 'none';
  if (data === undefined && !error) return undefined;
  return botsWhere(data?.hasBots ?? true);
}

export function botsWhere(hasBots: boolean): Bots {
  if (!hasBots) return 'none';
  return areBotsCounted() ? 'counted' : 'left out';
}

/** What the address says. */
export function areBotsCounted(): boolean {
  return address.value.query.get('bots') === '1';
}

/** The conditions of a page with its own on bots. */
export function withoutBots(conditions: readonly Condition[], bots: Bots): readonly Condition[] {
  return bots === 'left out' ? [...conditions, noBots] : conditions;
}

export function groupWithoutBots(): FilterGroup {
  return create(FilterGroupSchema, { filters: [toPropertyFilter(noBots)] });
}

/** For another button of the page, which goes where there is something to see: the chip has the focus then. */
export function countBots(): void {
  document.querySelector<HTMLElement>('.chip > [data-turns=bots]')?.focus();
  setQuery({ bots: '1' });
}

/** A chip that says whether bots are counted, and what turns it: the same button both ways, which keeps the focus. */
export function BotsChip({ bots }: { bots: Bots }) {
  if (bots === undefined || bots === 'none') return null;
  const isCounted = bots === 'counted';
  const turn = isCounted ? 'Leave bots out' : 'Count bots';
  return (
    <span class="chip">
      <span>{isCounted ? 'Bots counted' : botsLeftOut}</span>
      <button
        type="button"
        data-turns="bots"
        aria-label={turn}
        title={turn}
        onClick={() => setQuery({ bots: isCounted ? undefined : '1' })}
      >
        <Icon name="close" />
      </button>
    </span>
  );
}
