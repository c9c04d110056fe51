// One chDB connection: runs one statement at a time with exactly the settings and the database that its request names.
// chDB keeps the effect of SET and USE, so this class remembers both and changes only the differences.

import { Session } from 'chdb';
import { toEngineError } from '../errors.ts';
import { quoteName, quoteString } from '../statement/parameters.ts';

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

/** The setting by which a statement changes nothing, its own settings included. */
const readonly = 'readonly';

export class Connection {
  readonly #path: string;
  readonly #name: string;
  readonly #connectionArgs: readonly string[];
  #session: Session;
  #settings = new Map<string, string>();
  #database = 'default';

  /** KILL QUERY finds the connection's statement by `name`: unique in the process, without quotes. */
  constructor(path: string, name: string, connectionArgs: readonly string[]) {
    this.#path = path;
    this.#name = name;
    this.#connectionArgs = connectionArgs;
    this.#session = this.#open();
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

  /** Tells the statement that runs on connection `name`, if any, to end; does not wait until it has. */
  async kill(name: string): Promise<void> {
    const which = `Settings['log_comment'] = ${quoteString(name)}`;
    await this.#session.queryAsync(`KILL QUERY WHERE ${which} ASYNC`);
  }

  /** Resolves when the engine answers the smallest statement. */
  async probe(): Promise<void> {
    await this.#session.queryAsync('SELECT 1');
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

  /** How many settings, and the database, a statement would have to change first. */
  changesFor(scope: Scope): number {
    return this.#changes(this.#wanted(scope)).length + Number(scope.database !== this.#database);
  }

  #wanted(scope: Scope): Map<string, string> {
    return new Map([...scope.settings, ['log_comment', this.#name]]);
  }

  /** As SET takes them, in the order in which it makes them: nothing can be changed after `readonly`. */
  #changes(wanted: ReadonlyMap<string, string>): string[] {
    const changes: string[] = [];
    for (const name of this.#settings.keys()) {
      if (!wanted.has(name)) changes.push(`${name} = DEFAULT`);
    }
    for (const [name, value] of wanted) {
      const change = `${name} = ${quoteString(value)}`;
      if (name !== readonly && this.#settings.get(name) !== value) changes.push(change);
    }
    const own = wanted.get(readonly);
    if (own !== undefined && this.#settings.get(readonly) !== own) {
      changes.push(`${readonly} = ${quoteString(own)}`);
    }
    return changes;
  }

  async #enter(scope: Scope): Promise<void> {
    const wanted = this.#wanted(scope);
    // A connection that only reads takes no other settings any more; opening one takes a millisecond.
    if (this.#settings.has(readonly) && this.#changes(wanted).length > 0) this.#reopen();
    const changes = this.#changes(wanted);
    try {
      if (changes.length > 0) await this.#session.queryAsync(`SET ${changes.join(', ')}`);
      this.#settings = wanted;
      if (scope.database !== this.#database) {
        await this.#session.queryAsync(`USE ${quoteName(scope.database)}`);
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
    this.#session = this.#open();
    this.#settings = new Map();
    this.#database = 'default';
  }

  #open(): Session {
    return new Session(this.#path, { connectionArgs: this.#connectionArgs });
  }
}
