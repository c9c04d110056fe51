// chDB on one data directory, with a few connections for reads and a few for writes. Reads can be cancelled; inserts
// are always finished. It never keeps a whole result or an insert's data in memory.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, type Scope } from './connections/connection.ts';
import { Connections } from './connections/connections.ts';
import { Endings } from './connections/endings.ts';
import { userArguments } from './engine-arguments.ts';
import { EngineError, toEngineError, tooMany } from './errors.ts';
import { ResultPipe } from './result-pipe.ts';
import { knownRefusedNames } from './statement/known-names.ts';
import { type RefusedNames, readRefusedNames, refusedNames } from './statement/reach.ts';
import type { Statement } from './statement/statement.ts';
import { forgetTornInserts } from './torn-inserts.ts';
import { clearDirectory, withUpload } from './upload.ts';

interface ResultSink {
  /** Resolves when there is room for more, and at once when `cancelled` is aborted. */
  write(chunk: Buffer, cancelled: AbortSignal): Promise<void>;
  end(): void;
  /** Ends a result that has begun. Returns false where nothing was sent yet: then the error is still to be answered. */
  fail(error: EngineError): boolean;
}

interface EngineOptions {
  path: string;
  readers: number;
  writers: number;
  /** The statements of each kind, read and write, that may wait for a connection. */
  maxWaiting: number;
  /** The engine's own arguments, in the form of clickhouse-local. */
  engineArguments: readonly string[];
}

// The format of statements whose result is not taken from the call. Null would silence even the files they write.
const ownFormat = 'TabSeparated';
const emptyScope: Scope = { settings: new Map(), database: 'default' };

export class Engine {
  readonly version: string;
  /** For readStatement. */
  readonly refused: RefusedNames;
  readonly #directory: string;
  readonly #endings: Endings;
  readonly #all: Connection[];
  readonly #pipes = new Map<Connection, ResultPipe>();
  readonly #readers: Connections;
  readonly #writers: Connections;
  readonly #maxInserts: number;
  readonly #reads = new Set<AbortController>();
  #running = 0;
  #inserts = 0;
  #uploads = 0;
  #stopping = false;

  /** Opens the data directory; resolves when statements can run. Throws where another process has it open. */
  static async open(options: EngineOptions): Promise<Engine> {
    const engineArguments = [...options.engineArguments, ...userArguments(options.path)];
    const open = (name: string): Connection => new Connection(options.path, name, engineArguments);
    // This takes the directory's lock: no file in it may be touched before.
    const control = open('control');
    const directory = join(options.path, 'requests');
    clearDirectory(directory);
    const ask = async (sql: string): Promise<string> => {
      const { bytes } = await control.run(sql, emptyScope, ownFormat);
      return Buffer.from(bytes).toString('utf8');
    };
    const version = (await ask('SELECT version()')).trim();
    await forgetTornInserts(ask);
    const refused = knownRefusedNames(version) ?? readRefusedNames(await ask(refusedNames));
    return new Engine(options, directory, open, control, version, refused);
  }

  private constructor(
    options: EngineOptions,
    directory: string,
    open: (name: string) => Connection,
    control: Connection,
    version: string,
    refused: RefusedNames,
  ) {
    this.version = version;
    this.refused = refused;
    this.#directory = directory;
    this.#endings = new Endings(control);
    const readers = Array.from({ length: options.readers }, (_, n) => open(`reader-${n}`));
    const writers = Array.from({ length: options.writers }, (_, n) => open(`writer-${n}`));
    for (const reader of readers) {
      this.#pipes.set(reader, new ResultPipe(join(directory, `${reader.name}.pipe`)));
    }
    this.#maxInserts = options.writers + options.maxWaiting;
    this.#readers = new Connections(readers, options.maxWaiting);
    this.#writers = new Connections(writers, options.maxWaiting);
    this.#all = [control, ...readers, ...writers];
  }

  /**
   * Inserts `data` with the statement; resolves when it is in the table. Where `gone` is aborted before the statement
   * has begun, nothing is inserted. Throws EngineError.
   */
  async insert(
    statement: Statement & { kind: 'insert' },
    scope: Scope,
    data: AsyncIterable<Buffer>,
    gone: AbortSignal,
  ): Promise<void> {
    if (this.#inserts >= this.#maxInserts) throw tooMany(this.#inserts);
    this.#inserts++;
    const name = `upload-${this.#uploads++}`;
    const work = (path: string, bytes: number): Promise<void> | void => {
      if (bytes === 0) return;
      return this.#writers.with(scope, gone, async (connection) => {
        await connection.run(statement.from(path), scope, ownFormat);
      });
    };
    try {
      await this.#counted(() => withUpload(this.#directory, name, data, work));
    } finally {
      this.#inserts--;
    }
  }

  /** Runs a statement that changes something, and returns its output. Throws EngineError. */
  async command(sql: string, scope: Scope, format: string, gone: AbortSignal): Promise<Uint8Array> {
    return this.#counted(() =>
      this.#writers.with(
        scope,
        gone,
        async (connection) => (await connection.run(sql, scope, format)).bytes,
      ),
    );
  }

  /** Streams a result into `sink`; `gone` ends the statement. Throws EngineError where nothing was sent yet. */
  async read(
    statement: Statement & { kind: 'read' },
    scope: Scope,
    gone: AbortSignal,
    sink: ResultSink,
  ): Promise<void> {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    gone.addEventListener('abort', end, { once: true });
    if (gone.aborted) end();
    this.#reads.add(ending);
    try {
      await this.#counted(() =>
        this.#readers.with(scope, ending.signal, async (connection) => {
          const failure = await this.#stream(connection, statement, scope, ending.signal, sink);
          if (failure === undefined) sink.end();
          else if (!sink.fail(failure)) throw failure;
        }),
      );
    } finally {
      this.#reads.delete(ending);
    }
  }

  /**
   * Resolves with whether all is well, once the engine answers. Where it is false, a statement does not end; where it
   * does not resolve, the engine itself is stuck. Only a new process helps against both.
   */
  answers(): Promise<boolean> {
    return this.#endings.answers();
  }

  /** Ends running reads, waits for running writes, closes. No call may follow. */
  async close(): Promise<void> {
    this.#stopping = true;
    for (const ending of this.#reads) ending.abort();
    while (this.#running > 0) await delay(5);
    for (const connection of this.#all) connection.close();
  }

  async #stream(
    connection: Connection,
    statement: Statement & { kind: 'read' },
    scope: Scope,
    cancelled: AbortSignal,
    sink: ResultSink,
  ): Promise<EngineError | undefined> {
    const pipe = this.#pipes.get(connection);
    if (pipe === undefined) throw new Error(`no pipe for ${connection.name}`);
    const { bytes, finish } = pipe.open();
    const settled = new AbortController();
    const run = connection
      .run(statement.into(pipe.path), scope, ownFormat)
      .then(() => undefined, toEngineError)
      .finally(() => {
        settled.abort();
        finish();
      });
    let ended: Promise<void> | undefined;
    const endEarly = (): void => {
      ended = this.#endings.end(connection.name, settled.signal);
    };
    if (cancelled.aborted) endEarly();
    else cancelled.addEventListener('abort', endEarly, { once: true });
    for await (const chunk of bytes) {
      if (!cancelled.aborted) await sink.write(chunk, cancelled);
    }
    const failure = await run;
    cancelled.removeEventListener('abort', endEarly);
    await ended;
    return failure;
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stopping) {
      throw new EngineError(236, 'ABORTED', 'The engine is stopping');
    }
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
    }
  }
}
