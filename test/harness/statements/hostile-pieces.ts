// Pieces of statements that reach for what they must not: tables, table functions, settings, commands.

import type { Draw } from '../insights/random.ts';

/** Names in the test's world that a statement tries to reach. */
export interface Prey {
  /** The database of the service's tables. */
  database: string;
  /** The database of another project's views. */
  otherViews: string;
  otherProject: string;
  secretFile: string;
  newFile: string;
  /** Where nobody may connect. */
  port: number;
}

export interface Vocabulary {
  /** Of the engine, as it spells them. */
  functions: readonly string[];
  tableFunctions: readonly string[];
  systemTables: readonly string[];
  settings: readonly string[];
  tables: readonly string[];
}

export class HostilePieces {
  readonly #random: Draw;
  readonly #words: Vocabulary;
  readonly #prey: Prey;

  constructor(random: Draw, words: Vocabulary, prey: Prey) {
    this.#random = random;
    this.#words = words;
    this.#prey = prey;
  }

  /** A name, of a table that is there or not. */
  table(): string {
    const { database, otherViews } = this.#prey;
    const real = this.#pick(this.#words.tables);
    const system = this.#pick(this.#words.systemTables);
    return this.#pick([
      ...[`${database}.${real}`, real, `\`${database}\`.\`${real}\``, `"${database}"."${real}"`],
      ...[
        `${otherViews}.events`,
        `\`${otherViews}\`.profiles`,
        `system.${system}`,
        `system . \`${system}\``,
      ],
      ...[
        `information_schema.tables`,
        `\`${database}.${real}\``,
        `'${database}.${real}'`,
        `{t:Identifier}`,
      ],
      ...[`“${database}”.${real}`, `${database}/**/.${real}`, `system.${system}`],
    ]);
  }

  /** `expression` and `literal`: SQL of one. */
  tableFunction(expression: () => string, literal: () => string): string {
    const { secretFile, port, database, otherProject } = this.#prey;
    const name = this.#pick(this.#words.tableFunctions);
    return this.#pick([
      ...['numbers(3)', 'numbers(10, 5)', `numbers(${expression()})`],
      `${name}('${secretFile}', 'LineAsString')`,
      `${name}(${literal()})`,
      `url('http://127.0.0.1:${port}/', 'CSV', 'a String')`,
      `remote('127.0.0.1:${port}', ${database}.events)`,
      `merge('${database}', '.*')`,
      `view(SELECT * FROM ${database}.events WHERE project_id = '${otherProject}')`,
      `values('a Int8, b String ALIAS file(''${secretFile}'')', 1)`,
      `format('CSV', 'a String', '1')`,
      `(VALUES (1), (2))`,
    ]);
  }

  setting(): string {
    const { database, secretFile } = this.#prey;
    return this.#pick([
      `${this.#pick(this.#words.settings)} = 1`,
      'max_execution_time = 5',
      'limit = 3',
      `additional_table_filters = {'${database}.events': '1'}`,
      `additional_result_filter = 'throwIf(1, file(''${secretFile}''))'`,
      'readonly = 0',
      "dialect = 'prql'",
      'max_threads = 4, max_memory_usage = 0',
    ]);
  }

  command(expression: () => string): string {
    const { database, newFile, secretFile } = this.#prey;
    return this.#pick([
      ...[
        'SHOW DATABASES',
        'SHOW TABLES',
        `SHOW TABLES FROM ${database}`,
        'SHOW PROCESSLIST',
        'SHOW GRANTS',
      ],
      ...[`SHOW CREATE TABLE ${database}.events`, `DESCRIBE ${database}.profiles`, 'EXISTS events'],
      ...[
        `DROP TABLE ${database}.events`,
        `TRUNCATE ${database}.events`,
        'KILL QUERY WHERE 1',
        'SYSTEM SHUTDOWN',
      ],
      ...[
        `INSERT INTO FUNCTION file('${newFile}', 'TSV', 'a Int8') SELECT 1`,
        `DESCRIBE TABLE file('${secretFile}')`,
      ],
      ...[
        `CREATE TABLE t ENGINE = Memory AS SELECT 1`,
        `DESC (SELECT ${expression()})`,
        'SELECT 1; SELECT 2',
      ],
    ]);
  }

  #pick<T>(list: readonly T[]): T {
    return this.#random.pick(list);
  }
}
