// The segments that a page or a question is of, as chips, with a menu that adds one: only people in all of them count.

import { navigate } from '../router.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { currentProject } from '../workspace.ts';
import { maxSegments, useSegments } from './known-segments.ts';

export function SegmentBar(props: { ids: readonly string[]; onChange: (ids: string[]) => void }) {
  const { ids, onChange } = props;
  return (
    <SegmentChips
      {...props}
      label="Segments"
      action="Segment"
      before="in"
      onAdd={(id) => onChange([...ids, id].slice(-maxSegments))}
      onRemove={(id) => onChange(ids.filter((one) => one !== id))}
    />
  );
}

/** `before`: how each is meant, as "in". `action`: of the menu that adds one. */
export function SegmentChips(props: {
  label: string;
  action: string;
  before: string;
  ids: readonly string[];
  onAdd: (id: string) => void;
  onRemove: (id: string) => void;
}) {
  const { ids, before, onRemove } = props;
  const projectId = currentProject.value?.id;
  const { data, isLoading } = useSegments(ids.length > 0 ? projectId : undefined);
  const nameOf = (id: string): string => {
    const known = data?.find((one) => one.id === id)?.displayName;
    return `${before} ${known ?? (isLoading ? '…' : 'a deleted segment')}`;
  };
  return (
    <div class="filters" role="group" aria-label={props.label}>
      {ids.map((id) => (
        <span class="chip" key={id}>
          <span class="clip">{nameOf(id)}</span>
          <button type="button" aria-label={`Remove: ${nameOf(id)}`} onClick={() => onRemove(id)}>
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
