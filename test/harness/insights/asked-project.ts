// A project whose questions are asked twice: of whatever answers them, and of the rows of events alone. For tests of
// all that answers in place of these rows.

import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect } from 'vitest';
import type {
  Granularity,
  InsightQuerySpecSchema,
  QueryResponse,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { ReadService } from '../services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../tables/stored-events.ts';
import { type StoredProfile, storeProfiles } from '../tables/stored-profiles.ts';

export type AskedSpec = Extract<
  MessageInitShape<typeof InsightQuerySpecSchema>,
  { $typeName?: never }
>;

export interface AskedRange {
  fromMs: number;
  toMs: number;
  timezone?: string;
  weekStart?: number;
  granularity?: Granularity;
}

export type Answered = Pick<QueryResponse, 'result' | 'leftOut'>;

/** Every event was received before. */
const farFutureMs = Date.UTC(2199, 0, 1);

export class AskedProject {
  readonly id: string = randomUUID();
  readonly #service: ReadService;

  constructor(service: ReadService) {
    this.#service = service;
  }

  store(rows: readonly Partial<StoredRow>[]): Promise<void> {
    const ofProject = rows.map((row) => storedRow({ projectId: this.id, ...row }));
    return storeRows(this.#service.clickhouse, ofProject);
  }

  /** A later change has a greater version. */
  change(profiles: readonly Omit<StoredProfile, 'projectId'>[], version: string): Promise<void> {
    const ofProject = profiles.map((profile) => ({ projectId: this.id, ...profile }));
    return storeProfiles(this.#service.clickhouse, ofProject, version);
  }

  ask(spec: AskedSpec, range: AskedRange): Promise<Answered> {
    return this.#ask(spec, range, {});
  }

  /** Of the rows of events alone: nothing else can tell what was received until a moment. */
  askRows(spec: AskedSpec, range: AskedRange): Promise<Answered> {
    return this.#ask(spec, range, { asOf: timestampFromMs(farFutureMs) });
  }

  /** Ask for another range each time: an answer that is kept whole says nothing about days. */
  async expectAsRows(spec: AskedSpec, range: AskedRange): Promise<void> {
    expect(await this.ask(spec, range)).toEqual(await this.askRows(spec, range));
  }

  async #ask(
    spec: AskedSpec,
    { fromMs, toMs, ...zoned }: AskedRange,
    asOf: { asOf?: ReturnType<typeof timestampFromMs> },
  ): Promise<Answered> {
    const timeRange = { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) };
    const question = { spec, timeRange, ...zoned, ...asOf };
    const { result, leftOut } = await this.#service.insights(this.id).query(question);
    return { result, leftOut };
  }
}
