// The people of a project, those seen last first or sorted by another column, with filters on their traits.

import { Code, ConnectError } from '@connectrpc/connect';
import { useEffect, useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import { download } from '../browser/download.ts';
import { explain, inProject } from '../client.ts';
import { ExportMenu } from '../exports/export-menu.tsx';
import { botsOf, withoutBots } from '../filter/bots.tsx';
import { readConditions, writeConditions } from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { segmentsOfAddress, setSegments } from '../filter/known-segments.ts';
import { useSeenVisitors } from '../filter/seen-visitors.ts';
import { SegmentBar } from '../filter/segment-bar.tsx';
import { exportParams, isEmpty, writeSegments } from '../filter/segment-names.ts';
import { useOldRows, usePages } from '../pages.ts';
import { Updating } from '../retries/updating.tsx';
import type { PageProps } from '../router.ts';
import { address, navigate, setQuery } from '../router.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { Table } from '../ui/table.tsx';
import { Nobody } from './nobody.tsx';
import { ColumnsMenu, shownColumns, worthShown } from './profile-columns.tsx';
import { profileSort } from './profile-sort.ts';
import { isTooMuch, loadProfiles, profilesClient } from './profiles-client.ts';
import { rowsCsv } from './rows-csv.ts';

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const conditions = readConditions(address.value.query.get('f') ?? '');
  const segments = segmentsOfAddress();
  const { sort, sorting } = profileSort();
  const withWorth = worthShown().length > 0;
  const bots = botsOf(useSeenVisitors(projectId), conditions);
  const all = withoutBots(conditions, bots);
  const asked = { conditions: all, ...segments };
  const whom = `${writeSegments(segments)} ${writeConditions(all) ?? ''}`;
  const key = bots && `profiles ${projectId} ${whom} ${JSON.stringify(sort)} ${withWorth}`;
  const { isUnsorted, isWithoutWorth, ...list } = useProfiles(projectId, key, asked, {
    ...{ sort, withWorth },
  });
  const columns = shownColumns(isWithoutWorth);
  // The list stays while it is asked or sorted anew, and the focus on its heads.
  const { rows, error, isLoading, isUpdating, hasMore, more, reload } = useOldRows(list, projectId);
  return (
    <>
      <div class="page-head">
        <Updating isOn={isUpdating}>
          <h1 tabIndex={-1}>Users</h1>
        </Updating>
        <FindById projectId={projectId} />
      </div>
      <Filters conditions={conditions} bots={bots} />
      <Fault cause={error} retry={reload} />
      {isLoading && rows.length === 0 ? <Loading of="users" /> : null}
      {!isLoading && !error && rows.length === 0 ? (
        <Empty projectId={projectId} isFiltered={conditions.length > 0 || !isEmpty(segments)} />
      ) : null}
      {rows.length > 0 ? (
        <>
          <div class="row between">
            <p class="hint" aria-live="polite">
              {plural(rows.length, 'user')} {hasMore ? 'loaded, more as you scroll' : ''}
              {isUnsorted ? ' They are too many to sort: the newest come first.' : ''}
              {isWithoutWorth ? ' Their payments are too many to be read in time.' : ''}
            </p>
            <div class="row">
              <ExportMenu
                {...{
                  projectId,
                  what: 'profiles',
                  params: exportParams(segments),
                  conditions: all,
                }}
                onShown={() => download('users.csv', 'text/csv', rowsCsv(rows, columns))}
              />
              <ColumnsMenu rows={rows} />
            </div>
          </div>
          <Table
            label="Users"
            rows={rows}
            {...(isUnsorted ? {} : { sorting })}
            columns={columns}
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

type Way = Pick<Parameters<typeof loadProfiles>[1], 'sort' | 'withWorth'>;

/**
 * As it is asked for, where the service can: `isWithoutWorth` and `isUnsorted` say that it could not in time, and that
 * the newest come first.
 */
function useProfiles(
  projectId: string,
  key: string | undefined,
  whom: Omit<Parameters<typeof loadProfiles>[1], keyof Way>,
  asked: Way,
) {
  // How the list of a key is read where the service could not read it as it was asked for.
  const [other, setOther] = useState<{ key: string; way: Way }>();
  const way = key !== undefined && other?.key === key ? other.way : asked;
  const list = usePages(key, async (token, end) => {
    for (let next: Way | undefined = way; ; ) {
      try {
        return await loadProfiles(projectId, { ...whom, ...next }, token, end);
      } catch (cause) {
        next = lighter(next, asked, token === '');
        if (end.aborted || key === undefined || !next || !isTooMuch(cause)) throw cause;
        setOther({ key, way: next });
      }
    }
  });
  return {
    ...list,
    isUnsorted: asked.sort !== undefined && way.sort === undefined,
    isWithoutWorth: asked.withWorth && !way.withWorth,
  };
}

/** What is tried after `way`: without the worth, then in another order, which cannot go on behind a page. */
function lighter({ sort, withWorth }: Way, asked: Way, isFirstPage: boolean): Way | undefined {
  if (withWorth) return { sort, withWorth: false };
  return sort && isFirstPage ? { sort: undefined, withWorth: asked.withWorth } : undefined;
}

function Filters(props: Pick<Parameters<typeof FilterBar>[0], 'conditions' | 'bots'>) {
  return (
    <div class="row">
      <FilterBar
        {...props}
        of="users"
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
        <h2>No users match these filters</h2>
        <p>Remove one, or compare in another way.</p>
      </section>
    );
  return <Nobody projectId={projectId} />;
}
