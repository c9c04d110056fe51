// The settings of a project that an Update may change: the rules of each field, and the form in which it is stored.

import { create } from '@bufbuild/protobuf';
import type { ProjectRecord } from '../../platform/access/projects.ts';
import { compatFamilies, isCompatFamily } from '../../platform/compat/compat-families.ts';
import { isRetentionDays, maxRetentionDays } from '../../platform/retained/retained-from.ts';
import {
  maxAllowedOrigins,
  maxOriginCharacters,
  originPattern,
} from '../../platform/senders/allowed-origins.ts';
import {
  type Exclusions,
  exclusionLists,
  maxExclusionCharacters,
  maxExclusions,
} from '../../platform/senders/exclusions.ts';
import { isWeekday } from '../../platform/zones/weeks.ts';
import {
  type Exclusions as ExclusionsMessage,
  ExclusionsSchema,
  type UpdateRequest,
} from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import {
  displayNameField,
  invalidArgument,
  readTextList,
  timezoneField,
} from '../request-fields.ts';

type ProjectSettings = Pick<
  ProjectRecord,
  | 'displayName'
  | 'timezone'
  | 'compat'
  | 'allowedOrigins'
  | 'exclusions'
  | 'weekStart'
  | 'currency'
  | 'retentionDays'
>;

/** Only the settings that the request names. Throws invalid_argument. */
export function changedSettings(request: UpdateRequest): Partial<ProjectSettings> {
  const { displayName, timezone, compat, allowedOrigins, exclusions } = request;
  const { weekStart, currency, retentionDays } = request;
  return {
    ...(displayName !== undefined && { displayName: displayNameField('displayName', displayName) }),
    ...(timezone !== undefined && { timezone: timezoneField('timezone', timezone) }),
    ...(compat !== undefined && { compat: compatField('compat.families', compat.families) }),
    ...(allowedOrigins !== undefined && {
      allowedOrigins: originsField('allowedOrigins.origins', allowedOrigins.origins),
    }),
    ...(exclusions !== undefined && { exclusions: exclusionsField('exclusions', exclusions) }),
    ...(weekStart !== undefined && { weekStart: weekdayField('weekStart', weekStart) }),
    ...(currency !== undefined && { currency: currencyField('currency', currency) }),
    ...(retentionDays !== undefined && {
      retentionDays: retentionField('retentionDays', retentionDays),
    }),
  };
}

/** Whether the settings hold lists, by which a record grows. */
export function hasLists({ allowedOrigins = [], exclusions }: Partial<ProjectSettings>): boolean {
  return [allowedOrigins, ...Object.values(exclusions ?? {})].some(({ length }) => length > 0);
}

export function exclusionsMessage(lists: Exclusions): ExclusionsMessage {
  const { networks, paths, countries, userAgents } = lists;
  return create(ExclusionsSchema, {
    networks: [...networks],
    paths: [...paths],
    countries: [...countries],
    userAgents: [...userAgents],
  });
}

function weekdayField(field: string, weekday: number): number {
  if (isWeekday(weekday)) return weekday;
  throw invalidArgument(field, 'must be 1 (Monday) to 7 (Sunday)');
}

/** As the rule of events' `currency` has it; empty for none. */
function currencyField(field: string, currency: string): string {
  if (currency === '' || /^[A-Z]{3}$/.test(currency)) return currency;
  throw invalidArgument(field, 'must be three capitals, such as EUR');
}

function retentionField(field: string, days: number): number {
  if (isRetentionDays(days)) return days;
  throw invalidArgument(field, `must be whole days, 1 to ${maxRetentionDays}, or 0 for ever`);
}

function compatField(field: string, names: readonly string[]): readonly string[] {
  if (names.every(isCompatFamily)) return compatFamilies.filter((family) => names.includes(family));
  throw invalidArgument(field, `must be names of ${compatFamilies.join(', ')}`);
}

function originsField(field: string, texts: readonly string[]): readonly string[] {
  return readTextList(field, texts, {
    max: maxAllowedOrigins,
    maxCharacters: maxOriginCharacters,
    read: originPattern,
    rule: 'must be an origin such as https://example.com, example.com:8080 or *.example.com',
  });
}

function exclusionsField(field: string, sent: ExclusionsMessage): Exclusions {
  const bounds = { max: maxExclusions, maxCharacters: maxExclusionCharacters };
  const read = (name: keyof Exclusions): readonly string[] =>
    readTextList(`${field}.${name}`, sent[name], { ...bounds, ...exclusionLists[name] });
  return {
    networks: read('networks'),
    paths: read('paths'),
    countries: read('countries'),
    userAgents: read('userAgents'),
  };
}
