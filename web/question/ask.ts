// A question in the address and on the wire: the spec as compact JSON, with its range, buckets and moment.

import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  Granularity,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  type QueryRequest,
  QueryRequestSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Range } from '../time/range.tsx';
import { dayMs } from '../time/zone.ts';
import { formOf, type QuestionForm, startOf } from './forms.ts';

export function writeSpec(spec: InsightQuerySpec): string {
  return JSON.stringify(toJson(InsightQuerySpecSchema, spec, { enumAsInteger: true }));
}

/** The question of an address; the form's first one where there is none or it is not understood. */
export function readSpec(text: string, form: QuestionForm): InsightQuerySpec {
  if (text === '') return startOf(form);
  try {
    const json: JsonValue = JSON.parse(text);
    const spec = fromJson(InsightQuerySpecSchema, json, { ignoreUnknownFields: true });
    // A form of a later version reads as none.
    const isForm = spec.insightType !== InsightType.UNSPECIFIED && formOf(spec).id === form.id;
    return isForm ? spec : startOf(form);
  } catch {
    return startOf(form);
  }
}

export const granularities: readonly { value: string; name: string; granularity: Granularity }[] = [
  { value: 'minute', name: 'Minute', granularity: Granularity.MINUTE },
  { value: 'hour', name: 'Hour', granularity: Granularity.HOUR },
  { value: 'day', name: 'Day', granularity: Granularity.DAY },
  { value: 'week', name: 'Week', granularity: Granularity.WEEK },
  { value: 'month', name: 'Month', granularity: Granularity.MONTH },
];

/** The granularity that the address names, else one that fits the range: some twenty to a hundred buckets. */
export function granularityOf(text: string, { from, to }: Range): Granularity {
  const named = granularities.find(({ value }) => value === text);
  if (named) return named.granularity;
  const days = (to.getTime() - from.getTime()) / dayMs;
  if (days <= 2) return Granularity.HOUR;
  if (days <= 100) return Granularity.DAY;
  return days <= 210 ? Granularity.WEEK : Granularity.MONTH;
}

export type Asked = {
  spec: InsightQuerySpec;
  from: Date;
  to: Date;
  granularity: Granularity;
  zone: string;
  asOf: Date | undefined;
};

export function requestOf({ spec, from, to, granularity, zone, asOf }: Asked): QueryRequest {
  return create(QueryRequestSchema, {
    spec,
    timeRange: { from: timestampFromDate(from), to: timestampFromDate(to) },
    granularity,
    timezone: zone,
    ...(asOf ? { asOf: timestampFromDate(asOf) } : {}),
  });
}

/** For people: with the names of the definitions. */
export function requestJson(request: QueryRequest): string {
  return JSON.stringify(toJson(QueryRequestSchema, request), null, 2);
}

/** A command for a shell, which asks for the key. */
export function requestCurl(request: QueryRequest): string {
  const body = requestJson(request).replaceAll("'", "'\\''");
  return [
    `curl -s ${window.location.origin}/shared.insights.v1.InsightsService/Query`,
    `  -H 'content-type: application/json' -H 'x-api-key: YOUR_PRIVATE_KEY'`,
    `  -d '${body}'`,
  ].join(' \\\n');
}
