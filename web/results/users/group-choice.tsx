// Which group of an answer is drawn, where only one can be.

import { useState } from 'preact/hooks';
import { readablePath } from '../../../platform/words/readable-path.ts';
import type { InsightQuerySpec } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Select } from '../../fields/field.tsx';
import { groupName } from '../names.ts';

type Group = { breakdown: { [key: string]: string }; isOthers: boolean };

/**
 * The chosen one of `groups`, and the field that chooses it; `all` is every user together, the first choice.
 * `breakdown`: the values of the group whose persons can be listed; `one`: the group, where it is not every user.
 */
export function useGroup<All, One extends Group>(
  spec: InsightQuerySpec,
  groups: readonly One[],
  all?: All,
) {
  const [chosen, setChosen] = useState('');
  const named = groups.map((one, index) => ({
    value: String(index),
    name: readablePath(groupName(spec, one)),
  }));
  const options = [...(all === undefined ? [] : [{ value: '', name: 'All users' }]), ...named];
  const value = options.some((option) => option.value === chosen)
    ? chosen
    : (options[0]?.value ?? '');
  const one = groups[value === '' ? -1 : Number(value)];
  const group: All | One | undefined = one ?? all ?? groups[0];
  const isListed = one !== undefined && !one.isOthers;
  const breakdown = isListed ? one.breakdown : spec.breakdowns.length === 0 ? {} : undefined;
  const field =
    options.length > 1 ? (
      <Select label="Group" value={value} options={options} onValue={setChosen} />
    ) : null;
  return { group, field, breakdown, one: one ?? (all === undefined ? groups[0] : undefined) };
}
