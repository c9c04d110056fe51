// The oracle's own tables in DuckDB, filled from the events and calls that a test sent, never from the tables of the
// product.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { canonicalText, type SentEvent } from '../project/sent-event.ts';
import { text } from './statement/literals.ts';

/** A sent event with what became of it: each eventId once. */
export interface KnownEvent extends SentEvent {
  /** When it was received, at the earliest and latest; only its order to a moment of `as_of` counts. */
  receivedMs: number;
  /** The root of its id today, or the cookieless visitor of its day. */
  person: string;
  cookieless: boolean;
  deleted: boolean;
}

/** What a project's events and calls add up to. */
export interface KnownProject {
  events: readonly KnownEvent[];
  /** From a person to the traits of today. */
  traits: ReadonlyMap<string, Record<string, unknown>>;
  /** From a person to the id in answers; a person is its own id where it is missing. */
  ids: ReadonlyMap<string, string>;
}

export type Row = Record<string, unknown>;

export class Tables {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance;
    this.#connection = connection;
  }

  static async create(project: KnownProject): Promise<Tables> {
    const instance = await DuckDBInstance.create(':memory:', {
      threads: '1',
      autoinstall_known_extensions: 'false',
    });
    const tables = new Tables(instance, await instance.connect());
    const directory = mkdtempSync(join(tmpdir(), 'millrace-oracle-'));
    try {
      await tables.#fill(directory, project);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
    return tables;
  }

  /** The rows of a statement; integers of 64 bits are bigints. */
  async rows(sql: string): Promise<Row[]> {
    const reader = await this.#connection.runAndReadAll(sql);
    return reader.getRowObjectsJS();
  }

  close(): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }

  async #fill(directory: string, { events, traits, ids }: KnownProject): Promise<void> {
    const load = async (table: string, columns: Record<string, string>, lines: string[]) => {
      const path = join(directory, `${table}.json`);
      writeFileSync(path, lines.join('\n'));
      const list = Object.entries(columns).map(([name, type]) => `${name}: ${text(type)}`);
      await this.#connection.run(`CREATE TABLE ${table} AS SELECT * FROM read_json(
        ${text(path)}, format = 'newline_delimited', columns = {${list.join(', ')}})`);
    };
    const people = new Set(events.map(({ person }) => person));
    await load(
      'people',
      {
        person: 'VARCHAR',
        person_id: 'VARCHAR',
        trait_texts: 'MAP(VARCHAR, VARCHAR)',
        trait_numbers: 'MAP(VARCHAR, DOUBLE)',
      },
      [...people].map((person) => {
        const known = flatTraits(traits.get(person) ?? {});
        return JSON.stringify({ person, person_id: ids.get(person) ?? person, ...known });
      }),
    );
    await load(
      'sent',
      {
        id: 'VARCHAR',
        kind: 'VARCHAR',
        ts: 'BIGINT',
        received: 'BIGINT',
        session: 'VARCHAR',
        person: 'VARCHAR',
        cookieless: 'BOOLEAN',
        deleted: 'BOOLEAN',
        texts: 'MAP(VARCHAR, VARCHAR)',
        ints: 'MAP(VARCHAR, BIGINT)',
        doubles: 'MAP(VARCHAR, DOUBLE)',
      },
      events.map(eventLine),
    );
    await this.#connection.run(`CREATE TABLE events AS
      SELECT sent.*, person_id, trait_texts, trait_numbers FROM sent JOIN people USING (person)`);
  }
}

/** JSON.stringify cannot write a bigint: the number's own text goes into the line. */
function eventLine(event: KnownEvent): string {
  const entries = [...event.properties];
  const texts = entries.map(([key, value]) => [key, canonicalText(value)] as const);
  const ints = entries.filter(([, { type }]) => type === 'int');
  const doubles = entries.filter(([, { type }]) => type === 'double');
  const numbers = (list: typeof entries): string =>
    `{${list.map(([key, { value }]) => `${JSON.stringify(key)}:${Object.is(value, -0) ? '-0.0' : value}`).join(',')}}`;
  const fields = {
    id: event.eventId.toLowerCase(),
    kind: event.kind,
    ts: event.occurMs,
    received: event.receivedMs,
    session: event.session,
    person: event.person,
    cookieless: event.cookieless,
    deleted: event.deleted,
    texts: Object.fromEntries(texts),
  };
  const head = JSON.stringify(fields).slice(0, -1);
  return `${head},"ints":${numbers(ints)},"doubles":${numbers(doubles)}}`;
}

/** Every trait and every path into an object; a null is absent, and a whole key comes before a path. */
function flatTraits(traits: Record<string, unknown>): Row {
  const texts = new Map<string, string>();
  const numbers = new Map<string, number>();
  const put = (name: string, value: unknown): void => {
    if (value === null || texts.has(name)) return;
    texts.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    if (typeof value === 'number') numbers.set(name, value);
  };
  const descend = (path: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key.includes('.')) continue;
      put(`${path}.${key}`, inner);
      descend(`${path}.${key}`, inner);
    }
  };
  for (const [key, value] of Object.entries(traits)) put(key, value);
  for (const [key, value] of Object.entries(traits)) {
    if (!key.includes('.')) descend(key, value);
  }
  for (const [key, value] of Object.entries(traits)) {
    if (value !== null) continue;
    texts.delete(key);
    numbers.delete(key);
  }
  return { trait_texts: Object.fromEntries(texts), trait_numbers: Object.fromEntries(numbers) };
}
