// What the project has stored, for pickers: kinds, properties and values with their counts.

import { createClient } from '@connectrpc/connect';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import { readablePath } from '../../platform/words/readable-path.ts';
import { kindName } from '../../platform/words/value-words.ts';
import { PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import type { SeenKind, SeenProperty } from '../../proto/gen/common/v1/filter_schema_pb.js';
import { InsightsService } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';
import type { Suggestion } from '../fields/combo.tsx';
import { type Resource, useResource } from '../resource.ts';
import { meaningOf } from '../text/kind-meanings.ts';
import { inGroups } from '../text/property-groups.ts';
import { formatTime, toDate } from '../time/time.tsx';
import { currentProject } from '../workspace.ts';
import { propertyName } from './condition.ts';

const insights = createClient(InsightsService, transport);

/** The project whose names and values are suggested, where it is not the page's. */
export const SuggestingProject = createContext<string | undefined>(undefined);

const useProjectId = (): string | undefined =>
  useContext(SuggestingProject) ?? currentProject.value?.id;

type Schema = { kinds: SeenKind[]; properties: SeenProperty[]; isCut?: boolean };

/** Kinds and properties; of the events of one kind where it is named. */
export function useSchema(kind = ''): Resource<Schema> {
  const id = useProjectId();
  return useResource(id === undefined ? undefined : `schema ${id} ${kind}`, (end) =>
    insights.getFilterSchema({ eventKind: kind }, inProject(id ?? '', end)),
  );
}

export function useKindSuggestions(): Suggestion[] {
  const { data } = useSchema();
  return (data?.kinds ?? []).map(({ kind, count, lastSeen }) => ({
    value: kind,
    name: kindName(kind),
    note: `${kind} · ${plural(count, 'event')}`,
    says: [
      meaningOf(kind) ?? '',
      ...(lastSeen ? [`last received ${formatTime(toDate(lastSeen), 'short')}`] : []),
    ]
      .filter((text) => text !== '')
      .join('; '),
  }));
}

export const unknownKindHint = 'No event with this name was ever stored.';

/** Tells kinds of which no event was stored. None is where the list of kinds is not here, or not all of it. */
export function useIsUnknownKind(): (kind: string) => boolean {
  const { data } = useSchema();
  const isWhole = data !== undefined && !data.isCut;
  const seen = new Set(data?.kinds.map(({ kind }) => kind));
  return (kind) => isWhole && kind !== '' && !seen.has(kind);
}

/** Whose properties fit: events' with traits of their users or without, or users' alone, without the prefix. */
export type SuggestedOf = 'events' | 'events alone' | 'users';

export function propertySuggestions(schema: Schema | undefined, of: SuggestedOf): Suggestion[] {
  return inGroups(schema?.properties ?? []).flatMap(([group, { property, source, count }]) => {
    const isTrait = source === PropertySource.PROFILE;
    if (of === (isTrait ? 'events alone' : 'users')) return [];
    const value = of === 'users' ? property.replace(/^profile\./, '') : property;
    return [
      {
        ...{ value, group },
        name: of === 'users' ? value : propertyName(property),
        note: isTrait ? plural(count, 'user') : plural(count, 'event'),
      },
    ];
  });
}

/** Values of a property that begin with `prefix`; of the last 30 days. `property` as GetFilterSchema names it. */
export function useValueSuggestions(property: string, prefix: string): Suggestion[] {
  const id = useProjectId();
  const key = id && property ? `values ${id} ${property} ${prefix}` : undefined;
  const { data } = useResource(key, (end) =>
    insights.getPropertyValues(
      { propertyKey: property, prefix, limit: 50 },
      inProject(id ?? '', end),
    ),
  );
  return (data?.counts ?? []).map(({ value = '', count }) => ({
    value,
    name: readablePath(value),
    note: plural(count, 'time'),
  }));
}
