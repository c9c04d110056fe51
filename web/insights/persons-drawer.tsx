// The persons whom a figure counts, page by page, each a way to their profile.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { useEffect, useState } from 'preact/hooks';
import { readablePath } from '../../platform/words/readable-path.ts';
import {
  InsightsService,
  type TopKProfile,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';
import { Select } from '../fields/field.tsx';
import { type Asked, requestOf } from '../question/ask.ts';
import type { Figure } from '../results/shown.ts';
import { userName } from '../text/user-name.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Loading } from '../ui/loading.tsx';
import { hasRole, Role } from '../workspace.ts';

const insights = createClient(InsightsService, transport);

const loadSave = async () => (await import('../segments/save-people.tsx')).SavePeople;

type Person = { distinctId: string; profile: TopKProfile | undefined };

/** `figures`: where a place of a chart has several, one is chosen. `eventsHref`: the events behind them. */
export function PersonsDrawer(props: {
  projectId: string;
  asked: Asked;
  title: string;
  figures: readonly Figure[];
  eventsHref: string | undefined;
  onClose: () => void;
}) {
  const { projectId, asked, title, figures, eventsHref, onClose } = props;
  const [chosen, setChosen] = useState('0');
  const figure = figures[Number(chosen)];
  return (
    <Dialog title={title} side onClose={onClose}>
      {figures.length > 1 ? (
        <Select
          label="Number"
          value={chosen}
          options={figures.map(({ name }, index) => ({
            value: String(index),
            name: readablePath(name),
          }))}
          onValue={setChosen}
        />
      ) : null}
      {figure ? (
        <Persons key={chosen} {...{ projectId, asked, figure }} name={personsName(title, figure)} />
      ) : null}
      {eventsHref ? <a href={eventsHref}>View events</a> : null}
    </Dialog>
  );
}

function Persons(props: { projectId: string; asked: Asked; figure: Figure; name: string }) {
  const { projectId, asked, figure, name } = props;
  const { persons, isWhole, fault, more, isLoading } = usePersons(projectId, asked, figure);
  const [isSaving, setSaving] = useState(false);
  return (
    <>
      <ul class="plain persons" aria-busy={isLoading}>
        {persons.map(({ distinctId, profile }) => (
          <li key={distinctId}>
            <PersonLink projectId={projectId} distinctId={distinctId} profile={profile} />
          </li>
        ))}
      </ul>
      {isWhole && persons.length === 0 ? (
        <p class="hint">
          Nobody who can be listed: cookieless visitors are not told apart from day to day.
        </p>
      ) : null}
      {fault === undefined ? null : <Fault cause={fault} retry={more} />}
      {isLoading ? <Loading of="the users" /> : null}
      {isWhole || isLoading || fault !== undefined ? null : (
        <button type="button" onClick={more}>
          Show more
        </button>
      )}
      {persons.length > 0 && hasRole(Role.MEMBER) ? (
        <div class="row">
          <button type="button" onClick={() => setSaving(true)}>
            Save as segment
          </button>
        </div>
      ) : null}
      {isSaving ? (
        <Loaded
          load={loadSave}
          name="the fields"
          with={{
            ...{ projectId, title: name, onClose: () => setSaving(false) },
            list: (pageToken: string, signal: AbortSignal) =>
              insights.segmentUsers(
                { ...requestOfPoint(asked, figure), pageToken },
                inProject(projectId, signal),
              ),
          }}
        />
      ) : null}
    </>
  );
}

function PersonLink(props: { projectId: string } & Person) {
  const { projectId, distinctId, profile } = props;
  if (!profile?.id) return <>{distinctId}</>;
  const { id, properties } = profile;
  const name = userName({ id, externalId: distinctId, properties });
  return (
    <a href={`/p/${projectId}/profiles/${encodeURIComponent(id)}`}>
      {name}
      {name === distinctId ? null : <small> {distinctId}</small>}
    </a>
  );
}

type Page = { persons: Person[]; next: string | undefined; fault: unknown };

/** The first page, and one more at each call of `more`. */
function usePersons(projectId: string, asked: Asked, figure: Figure) {
  const [page, setPage] = useState<Page>({ persons: [], next: '', fault: undefined });
  const [isLoading, setLoading] = useState(true);
  const [end] = useState(() => new AbortController());
  const more = async (): Promise<void> => {
    setLoading(true);
    try {
      const request = { ...requestOfPoint(asked, figure), pageToken: page.next ?? '' };
      const answer = await insights.segmentUsers(request, inProject(projectId, end.signal));
      const found = answer.distinctIds.map((distinctId, index) => ({
        ...{ distinctId, profile: answer.profiles[index] },
      }));
      setPage({
        persons: [...page.persons, ...found],
        ...{ next: answer.nextPageToken || undefined, fault: undefined },
      });
    } catch (fault) {
      if (!end.signal.aborted) setPage({ ...page, fault });
    }
    setLoading(false);
  };
  useEffect(() => {
    void more();
    return () => end.abort();
  }, []);
  const { persons, next, fault } = page;
  return { persons, fault, isLoading, isWhole: next === undefined, more: () => void more() };
}

/** "Purchase, 3 Nov 2026". */
function personsName(title: string, { name }: Figure): string {
  return name === title ? name : `${readablePath(name)}, ${title}`;
}

function requestOfPoint(asked: Asked, { point }: Figure) {
  const { spec, timeRange, granularity, timezone, asOf } = requestOf(asked);
  const question = { spec, granularity, timezone, ...(asOf && { asOf }) };
  return { timeRange, point: { ...question, ...point } } satisfies MessageInitShape<
    typeof InsightsService.method.segmentUsers.input
  >;
}
