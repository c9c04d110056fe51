// The segments that a page or a question is of, as chips, with a menu that adds one: only people in all of them count,
// and in none of those that are turned to "not in".

import { focusNextChip } from '../fields/next-chip.ts';
import { navigate } from '../router.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { currentProject } from '../workspace.ts';
import {
  nameOfSegment,
  turned,
  useSegments,
  withoutSegment,
  withSegment,
} from './known-segments.ts';
import type { SegmentFilter } from './segment-names.ts';

export function SegmentBar(props: {
  chosen: SegmentFilter;
  onChange: (chosen: SegmentFilter) => void;
}) {
  const { chosen, onChange } = props;
  const { segments, notInSegments } = chosen;
  return (
    <SegmentChips
      label="Segments"
      action="Segment"
      // In an order of their own, so that none moves where it is turned.
      ids={[...new Set([...segments, ...notInSegments])].toSorted()}
      before={(id) => (segments.includes(id) ? 'in' : 'not in')}
      onAdd={(id) => onChange(withSegment(chosen, id))}
      onRemove={(id) => onChange(withoutSegment(chosen, id))}
      onTurn={(id) => onChange(turned(chosen, id))}
    />
  );
}

/**
 * `before`: how each is meant, as "in". `action`: of the menu that adds one. `onTurn`: makes "not in" of "in", and the
 * other way round.
 */
export function SegmentChips(props: {
  label: string;
  action: string;
  before: (id: string) => string;
  ids: readonly string[];
  onAdd: (id: string) => void;
  onRemove: (id: string) => void;
  onTurn?: (id: string) => void;
}) {
  const { ids, before, onRemove, onTurn } = props;
  const projectId = currentProject.value?.id;
  const known = useSegments(ids.length > 0 ? projectId : undefined);
  const nameOf = (id: string): string => `${before(id)} ${nameOfSegment(known, id)}`;
  return (
    <div class="filters" role="group" aria-label={props.label}>
      {ids.map((id) => (
        <span class="chip" key={id}>
          {onTurn ? (
            <button
              type="button"
              class="clip"
              title={before(id) === 'in' ? 'Turn to: not in' : 'Turn to: in'}
              onClick={() => onTurn(id)}
            >
              {nameOf(id)}
            </button>
          ) : (
            <span class="clip">{nameOf(id)}</span>
          )}
          <button
            type="button"
            aria-label={`Remove: ${nameOf(id)}`}
            onClick={({ currentTarget }) => {
              focusNextChip(currentTarget);
              onRemove(id);
            }}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <Menu
        label={props.action}
        class="quiet"
        button={
          <>
            <Icon name="overlap" />
            {props.action}
          </>
        }
      >
        <Choices {...props} projectId={projectId ?? ''} />
      </Menu>
    </div>
  );
}

/** The first entry is there at once and has the focus; the segments follow as soon as they are read. */
function Choices(props: {
  projectId: string;
  ids: readonly string[];
  onAdd: (id: string) => void;
  onRemove: (id: string) => void;
}) {
  const { projectId, ids, onAdd, onRemove } = props;
  const { data, error, reload } = useSegments(projectId);
  return (
    <>
      <MenuItem onChoose={() => navigate(`/p/${projectId}/segments`)}>All segments…</MenuItem>
      {error ? <MenuItem onChoose={reload}>They cannot be read. Ask again</MenuItem> : null}
      {data?.map(({ id, displayName }) => {
        const isChosen = ids.includes(id);
        return (
          <MenuItem
            key={id}
            isChosen={isChosen}
            isOneOfMany
            onChoose={() => (isChosen ? onRemove(id) : onAdd(id))}
          >
            {displayName}
          </MenuItem>
        );
      })}
    </>
  );
}
