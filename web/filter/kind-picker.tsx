// Kinds of events as chips, with a field that adds one.

import { useState } from 'preact/hooks';
import { kindName } from '../../platform/words/value-words.ts';
import { Combo } from '../fields/combo.tsx';
import { focusNextChip } from '../fields/next-chip.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { unknownKindHint, useIsUnknownKind, useKindSuggestions } from './schema.ts';

/** No kind means every kind. */
export function KindPicker(props: {
  kinds: readonly string[];
  onChange: (kinds: string[]) => void;
  /** Of the dialog that adds one. */
  title?: string;
  action?: string;
}) {
  const { kinds, onChange, title = 'Show an event', action = 'Show it' } = props;
  const [isOpen, setOpen] = useState(false);
  const isUnknown = useIsUnknownKind();
  return (
    <div class="filters" role="group" aria-label="Events shown">
      {kinds.map((kind) => (
        <span class="chip" key={kind}>
          <span>
            {kindName(kind)} <small>{kind}</small>
            {isUnknown(kind) ? <small class="hint"> never stored</small> : null}
          </span>
          <button
            type="button"
            aria-label={`Remove: ${kind}`}
            onClick={({ currentTarget }) => {
              focusNextChip(currentTarget);
              onChange(kinds.filter((one) => one !== kind));
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        {kinds.length > 0 ? 'Event' : 'Any event'}
      </button>
      {isOpen ? (
        <Adder
          title={title}
          action={action}
          onAdd={(kind) => {
            setOpen(false);
            if (!kinds.includes(kind)) onChange([...kinds, kind]);
          }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </div>
  );
}

function Adder(props: {
  title: string;
  action: string;
  onAdd: (kind: string) => void;
  onClose: () => void;
}) {
  const { title, action, onAdd, onClose } = props;
  const [kind, setKind] = useState('');
  const suggestions = useKindSuggestions();
  const isUnknown = useIsUnknownKind();
  return (
    <Dialog title={title} class="overhung" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (kind.trim()) onAdd(kind.trim());
        }}
      >
        <Combo
          label="Event"
          value={kind}
          suggestions={suggestions}
          hint={isUnknown(kind.trim()) ? unknownKindHint : ''}
          onValue={setKind}
          onTake={onAdd}
        />
        <div class="row end">
          <button type="submit" class="primary" disabled={kind.trim() === ''}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
