// Reads the parameters of GET /export. Everything that selects rows means the same as in the lists of events and of
// profiles; the whole request is checked before the engine is asked anything.

import { fromJson } from '@bufbuild/protobuf';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { maxQuestionMs, minQuestionMs } from '../../platform/limits.ts';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import { ListRequestSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { checkSegments, type SegmentFilter } from '../filters/segment-filter.ts';
import type { ListedSegments } from '../insights/segments/listed-persons.ts';
import { exportFormats, type FileForm, isFormatName } from './export-format.ts';

const whats = ['events', 'profiles', 'activity'] as const;
const columnForms = ['maps', 'flat'] as const;

export interface ExportAsked extends FileForm {
  what: (typeof whats)[number];
  /** Half-open, in milliseconds since the epoch. */
  fromMs: number;
  toMs: number;
  /** The range at which conditions of segments look, where the rows are a part of it. */
  whole?: { fromMs: number; toMs: number };
  kinds: readonly string[];
  filters: readonly PropertyFilter[];
  distinctId: string;
  profileId: string;
  sessionId: string;
  columns: (typeof columnForms)[number];
  /** Of events: those that came in this range, too. Half-open, in milliseconds since the epoch. */
  received?: { fromMs: number; toMs: number };
  /** One of several files, each of which has its share of the persons or events. All of them unless given. */
  share?: { place: number; of: number };
  /** Segments that persons are in, and those that they are not in: none unless given. */
  filter?: SegmentFilter;
  /** The same, looked up. */
  listed?: ListedSegments;
}

/** `project` is read with the credential. */
const names = [
  ...['what', 'project', 'from', 'to', 'kinds', 'filters', 'distinct_id', 'profile_id'],
  ...['session_id', 'segments', 'not_in_segments', 'format', 'compression', 'columns'],
];
/** Those that select events alone. */
const ofEvents = ['kinds', 'distinct_id', 'profile_id', 'session_id'] as const;
/** Of the parameters that name segments. */
export const segmentFields = { segments: 'segments', notInSegments: 'not_in_segments' } as const;
const maxNameCharacters = 100;

/** Throws invalid_argument that names the parameter and its rule. */
export function readExport(query: string): ExportAsked {
  const values = valuesOf(query);
  const given = (name: string): string => values.get(name) ?? '';
  const listOf = (name: string): string[] => (given(name) === '' ? [] : given(name).split(','));
  const what = oneOf('what', given('what') || 'events', whats);
  for (const name of ofEvents) {
    if (what !== 'events' && given(name) !== '') throw invalidArgument(name, 'is for events');
  }
  const format = given('format') || 'ndjson';
  if (!isFormatName(format)) {
    throw invalidArgument('format', `must be one of ${Object.keys(exportFormats).join(', ')}`);
  }
  const { compressions } = exportFormats[format];
  const fromMs = momentOf('from', given('from')) ?? minQuestionMs;
  const toMs = momentOf('to', given('to')) ?? maxQuestionMs;
  const filter = {
    segments: listOf('segments'),
    notInSegments: listOf(segmentFields.notInSegments),
  };
  checkSegments(filter, segmentFields);
  if (fromMs > toMs) throw invalidArgument('from', 'must not be after to');
  return {
    ...{ what, format, fromMs, toMs, filter },
    kinds: listOf('kinds'),
    filters: filtersOf(given('filters')),
    distinctId: given('distinct_id'),
    profileId: given('profile_id'),
    sessionId: given('session_id'),
    compression: oneOf('compression', given('compression') || compressions[0], compressions),
    columns: oneOf('columns', given('columns') || 'maps', columnForms),
  };
}

function valuesOf(query: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const shown = name.slice(0, maxNameCharacters);
    if (!names.includes(name)) {
      throw invalidArgument(shown, `is no parameter: there are ${names.join(', ')}`);
    }
    if (values.has(name)) throw invalidArgument(shown, 'is given twice');
    values.set(name, value);
  }
  return values;
}

function oneOf<T extends string>(field: string, value: string, all: readonly T[]): T {
  const found = all.find((one) => one === value);
  if (found === undefined) throw invalidArgument(field, `must be one of ${all.join(', ')}`);
  return found;
}

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Undefined for none. */
function momentOf(field: string, text: string): number | undefined {
  if (text === '') return undefined;
  const isKnown = dayPattern.test(text) || momentPattern.test(text);
  const ms = isKnown ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw invalidArgument(field, 'must be a day in UTC (2026-03-01) or a moment with its offset');
  }
  return Math.min(Math.max(ms, minQuestionMs), maxQuestionMs);
}

function filtersOf(text: string): readonly PropertyFilter[] {
  if (text === '') return [];
  try {
    const filters: unknown = JSON.parse(text);
    if (!Array.isArray(filters)) throw new TypeError('no list');
    return fromJson(ListRequestSchema, { filters }).filters;
  } catch {
    throw invalidArgument('filters', 'must be a JSON list of filters as ActivityService.List has');
  }
}
