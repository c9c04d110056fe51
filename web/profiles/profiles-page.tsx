// The people of a project, those seen last first as the service lists them, with filters on their traits.

import { Code, ConnectError } from '@connectrpc/connect';
import { useEffect, useState } from 'preact/hooks';
import type { Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { explain, inProject } from '../client.ts';
import { readConditions, writeConditions } from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { usePages } from '../pages.ts';
import { address, navigate, setQuery } from '../router.ts';
import type { PageProps } from '../routes.ts';
import { Time } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { figure, plural } from '../ui/figures.ts';
import { Loading } from '../ui/loading.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Nobody } from './nobody.tsx';
import { deviceOf, loadProfiles, nameOf, placeOf, profilesClient } from './profiles-client.ts';
import { TraitColumnsMenu, traitColumns } from './trait-columns.tsx';

const columns: Column<Profile>[] = [
  { name: 'Who', width: 'minmax(150px, 2fr)', cell: nameOf },
  { name: 'Last seen', width: '120px', cell: ({ activity }) => <Time at={activity?.lastSeen} /> },
  {
    name: 'Events',
    width: '70px',
    isNumber: true,
    cell: ({ activity }) => figure(activity?.totalEvents ?? 0n),
  },
  {
    name: 'Views',
    width: '70px',
    isNumber: true,
    cell: ({ activity }) => figure(activity?.pageviews ?? 0n),
  },
  {
    name: 'Visits',
    width: '70px',
    isNumber: true,
    cell: ({ activity }) => figure(activity?.sessions ?? 0n),
  },
  { name: 'Place', width: 'minmax(90px, 1fr)', cell: placeOf },
  { name: 'Device', width: 'minmax(120px, 1.4fr)', cell: deviceOf },
];

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const asked = address.value.query.get('f') ?? '';
  const conditions = readConditions(asked);
  const { rows, error, isLoading, hasMore, more, reload } = usePages(
    `profiles ${projectId} ${asked}`,
    (token, end) => loadProfiles(projectId, conditions, token, end),
  );
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Profiles</h1>
        <FindById projectId={projectId} />
      </div>
      <FilterBar
        of="profiles"
        conditions={conditions}
        onChange={(next) => setQuery({ f: writeConditions(next) })}
      />
      <Fault cause={error} retry={reload} />
      {isLoading && rows.length === 0 ? <Loading of="profiles" /> : null}
      {!isLoading && !error && rows.length === 0 ? (
        <Empty projectId={projectId} isFiltered={conditions.length > 0} />
      ) : null}
      {rows.length > 0 ? (
        <>
          <div class="row between">
            <p class="hint" aria-live="polite">
              {plural(rows.length, 'profile')} {hasMore ? 'loaded, more as you scroll' : ''}
            </p>
            <TraitColumnsMenu rows={rows} />
          </div>
          <Table
            label="Profiles"
            rows={rows}
            columns={[...columns, ...traitColumns()]}
            rowKey={({ id }) => id}
            onOpen={({ id }) => navigate(`/p/${projectId}/profiles/${id}`)}
            onEnd={more}
            height="calc(100dvh - 260px)"
          />
        </>
      ) : null}
    </>
  );
}

/** Opens the person with the site's own id. The palette leads here with `id`. */
function FindById({ projectId }: { projectId: string }) {
  const [id, setId] = useState(address.peek().query.get('id') ?? '');
  const [fault, setFault] = useState('');
  const find = async (): Promise<void> => {
    const externalId = id.trim();
    if (externalId === '') return;
    try {
      const { profile } = await profilesClient.getByExternalId(
        { externalId },
        inProject(projectId),
      );
      if (profile) navigate(`/p/${projectId}/profiles/${profile.id}`);
    } catch (cause) {
      const isNobody = ConnectError.from(cause).code === Code.NotFound;
      setFault(isNobody ? `Nobody has the id ${externalId}` : explain(cause).what);
    }
  };
  useEffect(() => void find(), []);
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      <input
        type="search"
        aria-label="Find a person by id"
        placeholder="Find by your id"
        value={id}
        onInput={(event) => {
          setId(event.currentTarget.value);
          setFault('');
        }}
      />
      <p role="status" class="hint bad" hidden={fault === ''}>
        {fault}
      </p>
    </form>
  );
}

function Empty({ projectId, isFiltered }: { projectId: string; isFiltered: boolean }) {
  if (isFiltered)
    return (
      <section class="empty">
        <h2>Nobody fits these filters</h2>
        <p>Remove one, or compare in another way.</p>
      </section>
    );
  return <Nobody projectId={projectId} />;
}
