// The conditions of a page as chips, each opens its editor; "Filter" opens an empty one.

import { useState } from 'preact/hooks';
import { focusNextChip } from '../fields/next-chip.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { type Bots, BotsChip } from './bots.tsx';
import { type Condition, emptyCondition, inWords } from './condition.ts';
import type { SuggestedOf } from './schema.ts';

const loadEditor = async () => (await import('./condition-editor.tsx')).ConditionEditor;

export function FilterBar(props: {
  conditions: readonly Condition[];
  onChange: (next: Condition[]) => void;
  of?: SuggestedOf;
  label?: string;
  /** Of a page that counts visitors. */
  bots?: Bots;
}) {
  const { conditions, onChange, of = 'events', label = 'Filters', bots } = props;
  const [edited, setEdited] = useState<number>();
  const put = (condition: Condition): void => {
    onChange(
      edited === conditions.length
        ? [...conditions, condition]
        : conditions.map((one, index) => (index === edited ? condition : one)),
    );
    setEdited(undefined);
  };
  return (
    <div class="filters" role="group" aria-label={label}>
      {conditions.map((condition, index) => (
        <span class="chip" key={inWords(condition)}>
          <button type="button" onClick={() => setEdited(index)}>
            {inWords(condition)}
          </button>
          <button
            type="button"
            aria-label={`Remove: ${inWords(condition)}`}
            onClick={({ currentTarget }) => {
              focusNextChip(currentTarget);
              onChange(conditions.filter((one) => one !== condition));
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <BotsChip bots={bots} />
      <button type="button" class="quiet" onClick={() => setEdited(conditions.length)}>
        <Icon name="filter" />
        Filter
      </button>
      {edited === undefined ? null : (
        <Dialog title="Filter" class="overhung" onClose={() => setEdited(undefined)}>
          <Loaded
            load={loadEditor}
            name="the fields"
            with={{ of, start: conditions[edited] ?? emptyCondition, onPut: put }}
          />
        </Dialog>
      )}
    </div>
  );
}
