// The database of a project's views: made by the first statement of a process that needs it, because it holds nothing
// of its own. Filters of rows by table go with every statement besides, which the engine itself puts on each of our
// tables, in views too: a statement that no judge had seen would find no other project's rows.

import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { collectRows, type RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { catalogueNames, catalogueSql, helperName, type ViewColumn } from './catalogue.ts';
import { viewNames, viewSql } from './view-sql.ts';

export type ViewStore = Pick<DatabaseClient, 'command' | 'database'> & RowReader;

export interface ProjectViews {
  database: string;
  columns: readonly ViewColumn[];
  /** The value of the setting `additional_table_filters`. */
  rowFilters: string;
}

/** Of the process: making them again costs some twenty small statements. */
const maxProjects = 10_000;
const maxCharacters = 1_048_576;
/** A SELECT without a table, `numbers`, and the list of functions read these. */
const openSystemTables = ['one', 'numbers', 'functions'];

export class ViewsOfProjects {
  readonly #store: ViewStore;
  readonly #settings: readonly string[];
  readonly #made = new Map<string, Promise<ProjectViews>>();

  /** `settings`: those that a statement may change. */
  constructor(store: ViewStore, settings: readonly string[]) {
    this.#store = store;
    this.#settings = settings;
  }

  /** Throws the client's errors. `again`: somebody has dropped them, or another server is asked. */
  of(projectId: string, again = false): Promise<ProjectViews> {
    const known = again ? undefined : this.#made.get(projectId);
    if (known !== undefined) return known;
    const made = this.#make(projectId).catch((error: unknown) => {
      this.#made.delete(projectId);
      throw error;
    });
    setBounded(this.#made, projectId, made, maxProjects);
    return made;
  }

  /** Whether all of them are there still. Throws the client's errors. */
  async areWhole({ database }: ProjectViews): Promise<boolean> {
    const sql = 'SELECT count() FROM system.tables WHERE database = {database:String}';
    const [row] = await this.#rows(sql, { database });
    return Number(row?.[0]) >= viewNames.length + catalogueNames.size;
  }

  async #make(projectId: string): Promise<ProjectViews> {
    const database = databaseOf(projectId);
    const views = viewSql(projectId);
    await this.#run(`CREATE DATABASE IF NOT EXISTS ${quoted(database)}`);
    for (const name of viewNames) await this.#view(database, name, views[name]);
    const columns = await this.#columns(database);
    const helpers = catalogueSql(columns, this.#settings);
    for (const [name, sql] of Object.entries(helpers)) {
      await this.#view(database, helperName(name), sql);
    }
    return { database, columns, rowFilters: await this.#filters(projectId) };
  }

  #view(database: string, name: string, sql: string): Promise<void> {
    return this.#run(`CREATE OR REPLACE VIEW ${quoted(database)}.${quoted(name)} AS ${sql}`);
  }

  async #run(query: string): Promise<void> {
    await this.#store.command({ query });
  }

  async #columns(database: string): Promise<ViewColumn[]> {
    const rows = await this.#rows(
      `SELECT table, name, type, position FROM system.columns
        WHERE database = {database:String} AND table IN {tables:Array(String)} ORDER BY table, position`,
      { database, tables: [...viewNames] },
    );
    return rows.map(([table, name, type, position]) => ({
      ...{ table: String(table), name: String(name), type: String(type) },
      position: Number(position),
    }));
  }

  async #filters(projectId: string): Promise<string> {
    const { database } = this.#store;
    const rows = await this.#rows(
      `SELECT table, max(name = 'project_id') FROM system.columns WHERE database = {database:String}
        AND match(table, '^[A-Za-z0-9_]+$') GROUP BY table ORDER BY table`,
      { database },
    );
    const filters = rows.map(([table, hasProject]) => {
      const filter = Number(hasProject) === 1 ? `project_id = \\'${projectId}\\'` : '0';
      return `'${database}.${table}': '${filter}'`;
    });
    const systems = await this.#rows(
      `SELECT name FROM system.tables WHERE database = 'system' AND name NOT IN {open:Array(String)}
        AND match(name, '^[A-Za-z0-9_]+$') ORDER BY name`,
      { open: openSystemTables },
    );
    const closed = systems.map(([name]) => `'system.${name}': '0'`);
    return `{${[...filters, ...closed].join(', ')}}`;
  }

  async #rows(sql: string, params: Readonly<Record<string, unknown>>): Promise<unknown[][]> {
    const signal = new AbortController().signal;
    const select = { sql, params, settings: {}, signal };
    return (await collectRows(this.#store, select, maxCharacters)).rows;
  }
}

export function databaseOf(projectId: string): string {
  return `sql_${projectId}`;
}

function quoted(name: string): string {
  return `\`${name}\``;
}
