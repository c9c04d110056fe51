// The kinds of events that are meant: one, any of several, or every kind where the only field is empty.

import type { EventFilter } from '../../../proto/gen/common/v1/filter_pb.js';
import { useAdded } from '../../fields/added.ts';
import { Combo } from '../../fields/combo.tsx';
import { unknownKindHint, useIsUnknownKind, useKindSuggestions } from '../../filter/schema.ts';
import { Icon } from '../../ui/icon.tsx';

/** As the service has it. */
const maxKinds = 20;

type Kinds = Pick<EventFilter, 'kind' | 'kinds'>;

export function KindFields(props: {
  label: string;
  placeholder: string;
  scope: Kinds;
  isNew: boolean;
  onChange: (kinds: Kinds) => void;
}) {
  const { label, placeholder, scope, isNew, onChange } = props;
  const suggestions = useKindSuggestions();
  const isUnknown = useIsUnknownKind();
  const kinds = scope.kinds.length > 0 ? scope.kinds : [scope.kind];
  const [added, setAdded] = useAdded(kinds.length, isNew ? 0 : -1);
  const put = (next: string[]): void => {
    const [only = '', ...others] = next;
    onChange(others.length === 0 ? { kind: only, kinds: [] } : { kind: '', kinds: next });
  };
  return (
    <>
      {kinds.map((kind, index) => (
        <div class={index === 0 ? undefined : 'row tight'} key={`${index}`}>
          <Combo
            label={index === 0 ? label : `Or event ${index + 1}`}
            value={kind}
            placeholder={kinds.length === 1 ? placeholder : 'Another event'}
            suggestions={suggestions}
            hint={isUnknown(kind) ? unknownKindHint : ''}
            isNew={index === added}
            onValue={(next) => put(kinds.map((one, at) => (at === index ? next : one)))}
          />
          {index === 0 ? null : (
            <button
              type="button"
              class="quiet end-of-field"
              aria-label={`Remove event ${index + 1}`}
              onClick={() => put(kinds.filter((_, at) => at !== index))}
            >
              <Icon name="close" />
            </button>
          )}
        </div>
      ))}
      {kinds.length < maxKinds && kinds.every((kind) => kind !== '') ? (
        <button
          type="button"
          class="add"
          onClick={() => {
            setAdded(kinds.length);
            put([...kinds, '']);
          }}
        >
          <Icon name="plus" />
          Or another event
        </button>
      ) : null}
    </>
  );
}
