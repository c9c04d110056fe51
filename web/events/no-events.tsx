// Why the list is empty, and what fills it.

import { countBots } from '../filter/bots.tsx';
import { useSchema } from '../filter/schema.ts';
import { address, setQuery } from '../router.ts';
import { DemoCommand } from '../setup/demo-command.tsx';

const conditions = ['kind', 'filters', 'segments', 'who', 'profile', 'session'];

export function NoEvents(props: { projectId: string; areBotsLeftOut: boolean }) {
  const { projectId, areBotsLeftOut } = props;
  const schema = useSchema();
  const { query } = address.value;
  const isNarrowed = conditions.some((name) => query.has(name));
  const hasEvents = (schema.data?.kinds.length ?? 0) > 0;
  if (!hasEvents && !isNarrowed)
    return (
      <div class="empty">
        <h2>No events yet</h2>
        <p>
          <a href={`/p/${projectId}/setup`}>Setup</a> has the line for your page, and shows the
          first event as it comes.
        </p>
        <DemoCommand />
      </div>
    );
  return (
    <div class="empty">
      <h2>Nothing here</h2>
      <p>
        No stored event meets these conditions in this range
        {areBotsLeftOut
          ? ', or those that do are of bots: of crawlers, and of programs such as curl'
          : ''}
        .
      </p>
      <div class="row">
        {areBotsLeftOut ? (
          <button type="button" onClick={countBots}>
            Count bots
          </button>
        ) : null}
        {isNarrowed ? (
          <button
            type="button"
            onClick={() =>
              setQuery(Object.fromEntries(conditions.map((name) => [name, undefined])))
            }
          >
            Remove all filters
          </button>
        ) : null}
        <button
          type="button"
          onClick={() => setQuery({ range: '12m', from: undefined, to: undefined })}
        >
          Show the last 12 months
        </button>
      </div>
    </div>
  );
}
