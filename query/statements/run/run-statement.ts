// One statement from its text to the bytes of its answer: judged by the engine's parser, then run in the project's own
// database, read only, within bounds of time, memory and rows.

import { ClickHouseError } from '@clickhouse/client';
import {
  collectRows,
  type ResultReader,
  type Select,
} from '../../../platform/clickhouse/select-rows.ts';
import type { RetainedFrom } from '../../../platform/retained/retained-from.ts';
import { withRetained } from '../../../platform/retained/row-filters.ts';
import { answerFormats } from '../dialect/formats.ts';
import { openSettings, putSetting, type StatementBounds, shown } from '../dialect/settings.ts';
import type { StatementAsked } from '../dialect/statement-request.ts';
import { type AllowedFunctions, readAllowedFunctions } from '../judge/allowed-functions.ts';
import { judgeTree } from '../judge/judge-tree.ts';
import { explainSql, readQueryTree } from '../judge/query-tree.ts';
import { checkNameParameters, readStatementText } from '../judge/statement-text.ts';
import { codes, StatementRefusal } from '../refusal.ts';
import { withOwnNames } from '../views/named-tables.ts';
import { type ProjectViews, type ViewStore, ViewsOfProjects } from '../views/project-views.ts';
import { tableQuestion } from '../views/table-question.ts';

export type StatementStore = ViewStore & ResultReader;

/** A statement that was judged. */
export interface JudgedStatement {
  sql: string;
  format: string;
  contentType: string;
  settings: ReadonlyMap<string, string>;
  params: Readonly<Record<string, string>>;
  queryId: string;
  projectId: string;
  views: ProjectViews;
  limits: StatementLimits;
}

export interface StatementLimits extends StatementBounds {
  memoryBytes: number;
}

const maxTreeCharacters = 4 * 1_048_576;
/** Of ClickHouse: behind all questions of the service itself. */
const priority = 30;
/** The least that has nothing to do with how the answer looks. */
const judgeSeconds = 5;
/** The project's database or a view of it is not there (UNKNOWN_DATABASE, UNKNOWN_TABLE). */
const lostViews: ReadonlySet<string> = new Set(['81', '60']);

export class Statements {
  readonly #store: StatementStore;
  readonly #limits: StatementLimits;
  readonly #views: ViewsOfProjects;
  readonly #retainedFrom: RetainedFrom;
  #functions: Promise<AllowedFunctions> | undefined;

  /** One for a group of servers. */
  constructor(
    store: StatementStore,
    limits: StatementLimits,
    retainedFrom: RetainedFrom = () => undefined,
  ) {
    this.#retainedFrom = retainedFrom;
    this.#store = store;
    this.#limits = limits;
    this.#views = new ViewsOfProjects(store, openSettings);
  }

  /** `limits`: where they are closer than usual. Throws StatementRefusal, the client's errors, and the signal's. */
  async judge(
    projectId: string,
    asked: StatementAsked,
    signal: AbortSignal,
    limits = this.#limits,
  ): Promise<JudgedStatement> {
    const text = readStatementText(asked.sql, tableQuestion);
    checkNameParameters(asked.sql, asked.params);
    const format = text.format ?? asked.format;
    const contentType = answerFormats.get(format);
    if (contentType === undefined) {
      throw new StatementRefusal(codes.unknownFormat, `there is no format ${shown(format)} here`);
    }
    const settings = new Map(asked.settings);
    for (const [name, value] of text.settings) putSetting(settings, name, value, limits);
    const select = withOwnNames(text.select);
    const params = Object.fromEntries(asked.params);
    const functions = await this.#allowed();
    let views = await this.#views.of(projectId);
    const explain = (): Promise<string[]> =>
      this.#explain(projectId, { select, params }, views, signal);
    const lines = await explain().catch(async (error: unknown) => {
      if (!(error instanceof ClickHouseError && lostViews.has(error.code))) throw error;
      views = await this.#views.of(projectId, true);
      return explain();
    });
    judgeTree(readQueryTree(lines), functions);
    return {
      sql: text.describes ? `DESCRIBE TABLE (${select}\n)` : select,
      ...{ format, contentType, settings, params, projectId, views, limits },
      queryId: `${projectId}-${asked.queryId}`,
    };
  }

  /** The answer's bytes. Throws what ResultReader does. */
  async *run(
    judged: JudgedStatement,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void, undefined> {
    const rows = this.#stream(judged, judged.views, signal);
    // The parser alone does not see that a view was lost. Nothing was sent before the first bytes.
    const first = await rows.next().catch(async (error: unknown) => {
      const { projectId, views } = judged;
      const mayBe = error instanceof ClickHouseError && lostViews.has(error.code);
      if (!mayBe || (await this.#views.areWhole(views))) throw error;
      return this.#views.of(projectId, true);
    });
    if ('database' in first) {
      yield* this.#stream(judged, first, signal);
      return;
    }
    if (first.done === true) return;
    yield first.value;
    yield* rows;
  }

  #stream(
    judged: JudgedStatement,
    views: ProjectViews,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void, undefined> {
    const { sql, format, params, queryId } = judged;
    const { seconds, rows, bytes, memoryBytes } = judged.limits;
    const settings: Select['settings'] = {
      max_execution_time: seconds,
      max_result_rows: String(rows),
      max_result_bytes: String(bytes),
      result_overflow_mode: 'throw',
      session_timezone: 'UTC',
      ...Object.fromEntries(judged.settings),
      ...this.#guards(judged.projectId, views, memoryBytes),
      ...formatSettings(format, judged.settings),
      query_id: queryId,
      readonly: 1,
    };
    return this.#store.stream({ sql, params, settings, signal, database: views.database }, format);
  }

  /** Of the engine. Throws the client's errors. */
  async version(signal: AbortSignal): Promise<string> {
    const asked = { sql: 'SELECT version()', params: {}, settings: {}, signal };
    const { rows } = await collectRows(this.#store, asked, maxTreeCharacters);
    return String(rows[0]?.[0]);
  }

  async #explain(
    projectId: string,
    { select, params }: { select: string; params: Readonly<Record<string, string>> },
    views: ProjectViews,
    signal: AbortSignal,
  ): Promise<string[]> {
    const settings = {
      max_execution_time: judgeSeconds,
      ...this.#guards(projectId, views, this.#limits.memoryBytes),
      readonly: 1,
    };
    const asked = { sql: explainSql(select), params, settings, signal, database: views.database };
    const { rows } = await collectRows(this.#store, asked, maxTreeCharacters);
    return rows.map(([line]) => String(line));
  }

  /** What stands, whatever the statement: `readonly` comes last, because nothing can be set after it. */
  #guards(projectId: string, views: ProjectViews, memoryBytes: number): Select['settings'] {
    const { database } = this.#store;
    const fromMs = this.#retainedFrom(projectId);
    return {
      additional_table_filters: withRetained(views.rowFilters, database, fromMs),
      max_memory_usage: String(memoryBytes),
      max_threads: 1,
      priority,
      // Each parameter becomes a part of the text, at each place that names it.
      max_query_size: String(8 * 1_048_576),
      compile_expressions: 0,
      compile_aggregate_expressions: 0,
      compile_sort_description: 0,
    };
  }

  #allowed(): Promise<AllowedFunctions> {
    this.#functions ??= readAllowedFunctions(this.#store, new AbortController().signal).catch(
      (error: unknown) => {
        this.#functions = undefined;
        throw error;
      },
    );
    return this.#functions;
  }
}

/** Settings that keep an answer exact for its readers, unless they ask otherwise. */
function formatSettings(format: string, asked: ReadonlyMap<string, string>): Select['settings'] {
  const unless = (name: string, value: string | number): Select['settings'] =>
    asked.has(name) ? {} : { [name]: value };
  if (format.startsWith('JSON') || format === 'NDJSON') {
    // Readers in JavaScript would round them in silence.
    return unless('output_format_json_quote_64bit_integers', 1);
  }
  // apache-arrow for JavaScript reads no packed Arrow, and DuckDB 1.5 finds no ids by the engine's Bloom filters.
  if (format.startsWith('Arrow')) return unless('output_format_arrow_compression_method', 'none');
  if (format === 'Parquet') return unless('output_format_parquet_write_bloom_filter', 0);
  return {};
}
