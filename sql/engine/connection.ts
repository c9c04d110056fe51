// One chDB connection: runs one statement at a time with exactly the settings and the database that its request names.
// chDB keeps the effect of SET and USE, so this class remembers both and changes only the differences.

import { Session } from 'chdb';
import { toEngineError } from './errors.ts';
import { quoteString } from './statement/parameters.ts';

export interface Scope {
  settings: ReadonlyMap<string, string>;
  database: string;
}

/** The engine's own report on one statement. */
interface Outcome {
  bytes: Uint8Array;
  rowsRead: number;
  bytesRead: number;
  elapsedSeconds: number;
}

export class Connection {
  readonly #path: string;
  readonly #name: string;
  #session: Session;
  #settings = new Map<string, string>();
  #database = 'default';

  /** KILL QUERY finds the connection's statement by `name`: unique in the process, without quotes. */
  constructor(path: string, name: string, connectionArgs: readonly string[]) {
    this.#path = path;
    this.#name = name;
    this.#session = new Session(path, { connectionArgs });
  }

  /** Runs one statement off the event loop. Throws EngineError. `format` serves a statement that names none. */
  async run(sql: string, scope: Scope, format: string): Promise<Outcome> {
    await this.#enter(scope);
    try {
      const result = await this.#session.queryAsync(sql, { format });
      return {
        bytes: result.bytes(),
        rowsRead: result.rowsRead,
        bytesRead: result.bytesRead,
        elapsedSeconds: result.elapsed,
      };
    } catch (error) {
      await this.#forget();
      throw toEngineError(error);
    }
  }

  /** Ends the statement that runs on connection `name`, if any. Takes a few milliseconds of the event loop. */
  kill(name: string): void {
    this.#session.query(`KILL QUERY WHERE Settings['log_comment'] = ${quoteString(name)} ASYNC`);
  }

  get name(): string {
    return this.#name;
  }

  close(): void {
    this.#session.close();
  }

  // chDB keeps a failed statement, with its memory and its line in system.processes, until the connection's next one.
  async #forget(): Promise<void> {
    await this.#session.queryAsync('SELECT 1').catch(() => {});
  }

  async #enter(scope: Scope): Promise<void> {
    const wanted = new Map([...scope.settings, ['log_comment', this.#name]]);
    const changes: string[] = [];
    for (const [name, value] of wanted) {
      if (this.#settings.get(name) !== value) changes.push(`${name} = ${quoteString(value)}`);
    }
    for (const name of this.#settings.keys()) {
      if (!wanted.has(name)) changes.push(`${name} = DEFAULT`);
    }
    try {
      if (changes.length > 0) await this.#session.queryAsync(`SET ${changes.join(', ')}`);
      this.#settings = wanted;
      if (scope.database !== this.#database) {
        const quoted = scope.database.replace(/[\\`]/g, '\\$&');
        await this.#session.queryAsync(`USE \`${quoted}\``);
        this.#database = scope.database;
      }
    } catch (error) {
      this.#reopen();
      throw toEngineError(error);
    }
  }

  // A failed SET may have changed some settings; a new connection has none.
  #reopen(): void {
    this.#session.close();
    this.#session = new Session(this.#path);
    this.#settings = new Map();
    this.#database = 'default';
  }
}
