// The type of deliveries that tell of kept exports, in the catalogue: the schema of its data, and an example.

import { dayMs } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { type PayloadExport, renderExport } from '../../../platform/webhooks/export-payload.ts';

const text = { type: 'string' } as const;
const time = { ...text, format: 'date-time' } as const;

const properties = {
  eventId: { ...text, description: "The export's id again, in all deliveries of it." },
  exportId: { ...text, description: 'For ExportsService and GET /exports/{id}/{name}.' },
  what: { enum: ['events', 'profiles', 'activity'] },
  format: { enum: ['parquet', 'arrow', 'ndjson', 'csv'] },
  rows: { type: 'integer' },
  bytes: { type: 'integer' },
  files: {
    type: 'array',
    items: text,
    description: 'The names of its files; manifest.json is another one, and tells their hashes.',
  },
  completeUntil: {
    type: ['string', 'null'],
    format: 'date-time',
    description:
      'Every event and identity call that was accepted before it is in the files; null where nobody could tell.',
  },
  expireTime: { ...time, description: 'When its files are deleted.' },
};

/** JSON Schema, 2020-12. */
export const exportData: JsonObject = {
  type: 'object',
  properties,
  required: Object.keys(properties),
  description: 'The export.',
};

/** An example, up to the webhook. It says that it is a test. */
export function exampleExport({
  eventId: exportId,
  ...of
}: Pick<PayloadExport, 'organizationId' | 'projectId' | 'occurTimeMs'> & {
  eventId: string;
}): string {
  return renderExport({
    ...{ ...of, exportId, isTest: true },
    ...{ what: 'events', format: 'parquet', rows: 128_000, bytes: 9_437_184 },
    files: ['events-0001.parquet'],
    completeUntilMs: of.occurTimeMs - 60_000,
    expireMs: of.occurTimeMs + 7 * dayMs,
  });
}
