// What a statement may read: the views with their columns. A press puts the name into the statement.

import { useResource } from '../../resource.ts';
import { Fault } from '../../ui/fault.tsx';
import { Loading } from '../../ui/loading.tsx';
import { isMapType } from '../answer/cells.ts';
import { listViews } from '../statement-client.ts';

export function ViewList(props: {
  projectId: string;
  onName: (name: string, isMap: boolean) => void;
}) {
  const { projectId, onName } = props;
  const { data, error, reload } = useResource(`sql views ${projectId}`, (end) =>
    listViews(projectId, end),
  );
  return (
    <section class="card sql-views" aria-label="Views and columns" tabIndex={0}>
      <h2>Views</h2>
      <Fault cause={error} retry={reload} />
      {data === undefined && !error ? <Loading of="columns" /> : null}
      {data?.map(({ name, columns }) => (
        <details key={name} open={name === 'events'}>
          <summary>{name}</summary>
          <ul>
            <NameButton name={name} type="the view" onPress={() => onName(name, false)} />
            {columns.map((column) => (
              <NameButton
                key={column.name}
                {...column}
                onPress={() => onName(column.name, isMapType(column.type))}
              />
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}

function NameButton(props: { name: string; type: string; onPress: () => void }) {
  return (
    <li>
      <button type="button" class="quiet" title={props.type} onClick={props.onPress}>
        <code>{props.name}</code>
        <small class="clip">{props.type.replace(/^LowCardinality\((.*)\)$/, '$1')}</small>
      </button>
    </li>
  );
}
