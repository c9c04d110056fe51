// The people of a project, those seen last first or sorted by another column, with filters on their traits.

import { Code, ConnectError } from '@connectrpc/connect';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { explain, inProject } from '../client.ts';
import { ExportMenu } from '../exports/export-menu.tsx';
import { botsOf, withoutBots } from '../filter/bots.tsx';
import { readConditions, writeConditions } from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { segmentsOfAddress, setSegments } from '../filter/known-segments.ts';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { exportParams, isEmpty, writeSegments } from '../filter/segment-names.ts';
import { MarkedDevice, MarkedPlace } from '../marks/marked.tsx';
import { usePages } from '../pages.ts';
import type { PageProps } from '../router.ts';
import { address, navigate, setQuery } from '../router.ts';
import { Time } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { figure, plural } from '../ui/figures.ts';
import { Loading } from '../ui/loading.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Nobody } from './nobody.tsx';
import { profileSort } from './profile-sort.ts';
import {
  deviceOf,
  isTooManyToSort,
  loadProfiles,
  nameOf,
  placeOf,
  profilesClient,
} from './profiles-client.ts';
import { TraitColumnsMenu, traitColumns } from './trait-columns.tsx';

const columns: Column<Profile>[] = [
  { name: 'Who', order: 'name', width: 'minmax(150px, 2fr)', cell: nameOf },
  {
    name: 'Last seen',
    order: 'last-seen',
    width: '120px',
    cell: ({ activity }) => <Time at={activity?.lastSeen} />,
  },
  {
    name: 'Events',
    order: 'events',
    width: '70px',
    isNumber: true,
    cell: ({ activity }) => figure(activity?.totalEvents ?? 0n),
  },
  {
    name: 'Views',
    order: 'views',
    width: '70px',
    isNumber: true,
    cell: ({ activity }) => figure(activity?.pageviews ?? 0n),
  },
  {
    name: 'Visits',
    order: 'visits',
    width: '70px',
    isNumber: true,
    cell: ({ activity }) => figure(activity?.sessions ?? 0n),
  },
  {
    name: 'Place',
    order: 'place',
    width: 'minmax(90px, 1fr)',
    cell: (profile) => (
      <MarkedPlace country={profile.activity?.country}>{placeOf(profile)}</MarkedPlace>
    ),
  },
  {
    name: 'Device',
    order: 'device',
    width: 'minmax(120px, 1.4fr)',
    cell: (profile) => (
      <MarkedDevice browser={profile.activity?.browser} os={profile.activity?.os}>
        {deviceOf(profile)}
      </MarkedDevice>
    ),
  },
];

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const conditions = readConditions(address.value.query.get('f') ?? '');
  const segments = segmentsOfAddress();
  const { sort, sorting } = profileSort();
  const bots = botsOf(useSeenVisitors(projectId));
  const all = withoutBots(conditions, bots);
  const asked = { conditions: all, ...segments };
  const whom = `${writeSegments(segments)} ${writeConditions(all) ?? ''}`;
  const key = bots && `profiles ${projectId} ${whom} ${JSON.stringify(sort)}`;
  const { isUnsorted, ...list } = useProfiles(projectId, key, asked, sort);
  const { rows, error, isLoading, hasMore, more, reload } = list;
  // The list stays while it is sorted anew, and the focus on its heads.
  const wasShown = useRef(false);
  if (rows.length > 0) wasShown.current = true;
  const isShown = rows.length > 0 || (isLoading && wasShown.current);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Users</h1>
        <FindById projectId={projectId} />
      </div>
      <Filters conditions={conditions} bots={bots} />
      <Fault cause={error} retry={reload} />
      {isLoading && !isShown ? <Loading of="profiles" /> : null}
      {!isLoading && !error && rows.length === 0 ? (
        <Empty projectId={projectId} isFiltered={conditions.length > 0 || !isEmpty(segments)} />
      ) : null}
      {isShown ? (
        <>
          <div class="row between">
            <p class="hint" aria-live="polite">
              {plural(rows.length, 'user')} {hasMore ? 'loaded, more as you scroll' : ''}
              {isUnsorted ? ' They are too many to sort: the newest come first.' : ''}
            </p>
            <div class="row">
              <ExportMenu
                {...{
                  projectId,
                  what: 'profiles',
                  params: exportParams(segments),
                  conditions: all,
                }}
              />
              <TraitColumnsMenu rows={rows} />
            </div>
          </div>
          <Table
            label="Users"
            rows={rows}
            {...(isUnsorted ? {} : { sorting })}
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

/** Sorted, where the service can: `isUnsorted` says that it could not, and that the newest come first. */
function useProfiles(
  projectId: string,
  key: string | undefined,
  asked: Parameters<typeof loadProfiles>[1],
  sort: Parameters<typeof loadProfiles>[2],
) {
  // The key of a list that the service could not sort.
  const [unsorted, setUnsorted] = useState<string>();
  const isUnsorted = key !== undefined && unsorted === key;
  const list = usePages(key, async (token, end) => {
    if (!isUnsorted) {
      try {
        return await loadProfiles(projectId, asked, sort, token, end);
      } catch (cause) {
        if (end.aborted || token !== '' || !isTooManyToSort(cause)) throw cause;
        setUnsorted(key);
      }
    }
    return loadProfiles(projectId, asked, undefined, token, end);
  });
  return { ...list, isUnsorted };
}

function Filters(props: Pick<Parameters<typeof FilterBar>[0], 'conditions' | 'bots'>) {
  return (
    <div class="row">
      <FilterBar
        {...props}
        of="profiles"
        onChange={(next) => setQuery({ f: writeConditions(next) })}
      />
      <SegmentBar chosen={segmentsOfAddress()} onChange={setSegments} />
    </div>
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
        aria-label="Find a user by id"
        placeholder="Find by user id"
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
