// A grammar of statements as POST /sql may get them: questions that are allowed, others that reach for what they must
// not, and texts that try to hide it. The same seed makes the same statements.

import { createDraw, type Draw } from '../insights/random.ts';
import { hiddenText } from './hidden-text.ts';
import { HostilePieces, type Prey, type Vocabulary } from './hostile-pieces.ts';
import { plainStatement } from './plain-statements.ts';

const columns = [
  ...['kind', 'distinct_id', 'profile_id', 'session_id', 'occur_time', 'browser', 'country', 'url'],
  ...["string_properties['plan']", "int_properties['seats']", 'cookieless', 'events.kind', '*'],
];
const views = ['events', 'profiles', 'sessions', 'millrace.events', 'default.profiles'];
const aggregates = ['count()', 'uniqExact(distinct_id)', 'max(occur_time)', 'any(kind)', 'sum(1)'];
const plainCalls = ['toString', 'upper', 'length', 'toDate', 'cityHash64', 'isNull', 'hex'];
export class StatementGrammar {
  readonly #random: Draw;
  readonly #words: Vocabulary;
  readonly #prey: Prey;
  readonly #hostile: HostilePieces;
  #depth = 0;

  constructor(seed: number, words: Vocabulary, prey: Prey) {
    this.#random = createDraw(seed);
    this.#words = words;
    this.#prey = prey;
    this.#hostile = new HostilePieces(this.#random, words, prey);
  }

  /** Of ten, four are plain, three plain with something put in, and three wild; some are changed in their text. */
  statement(): string {
    this.#depth = 0;
    const mood = this.#random.next();
    if (mood < 0.4) return this.#plain(0);
    if (mood < 0.55) return this.#plain(0.4);
    if (mood < 0.7) return hiddenText(this.#random, this.#plain(0.2));
    const sql = this.#wild();
    return this.#one(3) ? hiddenText(this.#random, sql) : sql;
  }

  #plain(chance: number): string {
    const intrudes = (): boolean => this.#random.chance(chance);
    return plainStatement(this.#random, {
      table: () =>
        intrudes()
          ? this.#pick([
              this.#hostile.table(),
              this.#hostile.tableFunction(
                () => this.#expression(),
                () => this.#literal(),
              ),
            ])
          : undefined,
      expression: () => (intrudes() ? this.#call("'a'") : undefined),
    });
  }

  #wild(): string {
    let sql = this.#query();
    if (this.#one(8)) sql = `(${sql})`;
    if (this.#one(6)) sql += ` SETTINGS ${this.#hostile.setting()}`;
    if (this.#one(10))
      sql += ` FORMAT ${this.#pick(['JSON', 'TSV', 'Null', 'Template', 'Parquet'])}`;
    if (this.#one(25)) sql += ` INTO OUTFILE '${this.#prey.newFile}'`;
    if (this.#one(25))
      sql = `${this.#pick(['SET max_threads = 1;', 'EXPLAIN ', 'INSERT INTO events '])}${sql}`;
    return this.#one(30) ? this.#hostile.command(() => this.#expression()) : sql;
  }

  #one(of: number): boolean {
    return this.#random.below(of) === 0;
  }

  #pick<T>(list: readonly T[]): T {
    return this.#random.pick(list);
  }

  #deeper<T>(make: () => T, leaf: () => T): T {
    if (this.#depth > 3) return leaf();
    this.#depth++;
    try {
      return make();
    } finally {
      this.#depth--;
    }
  }

  #query(): string {
    const select = this.#select();
    if (!this.#one(7)) return select;
    const joined = this.#pick(['UNION ALL', 'UNION DISTINCT', 'INTERSECT', 'EXCEPT']);
    return `${select} ${joined} ${this.#deeper(
      () => this.#query(),
      () => 'SELECT 1',
    )}`;
  }

  #select(): string {
    const parts: string[] = [];
    if (this.#one(6)) parts.push(`WITH ${this.#with()}`);
    parts.push(`SELECT ${this.#one(9) ? 'DISTINCT ' : ''}${this.#projection()}`);
    if (!this.#one(8)) parts.push(`FROM ${this.#source()}`);
    if (this.#one(12)) parts.push(`ARRAY JOIN [1, 2] AS joined`);
    if (this.#one(15)) parts.push(`PREWHERE ${this.#condition()}`);
    if (this.#one(3)) parts.push(`WHERE ${this.#condition()}`);
    if (this.#one(6)) parts.push(`GROUP BY ${this.#pick(['kind', 'ALL', 'ROLLUP(kind)', '1'])}`);
    if (this.#one(12)) parts.push(`HAVING ${this.#condition()}`);
    if (this.#one(14)) parts.push(`WINDOW w AS (PARTITION BY ${this.#expression()})`);
    if (this.#one(14)) parts.push(`QUALIFY ${this.#expression()} = 1`);
    if (this.#one(6)) parts.push(`ORDER BY ${this.#order()}`);
    if (this.#one(14)) parts.push(`LIMIT 1 BY ${this.#expression()}`);
    if (this.#one(2))
      parts.push(`LIMIT ${this.#pick(['3', '1 + 1', '2 OFFSET 1', `(${this.#scalar()})`])}`);
    return parts.join(' ');
  }

  #with(): string {
    const inner = this.#deeper(
      () => this.#query(),
      () => 'SELECT 1 AS a',
    );
    return this.#pick([
      `x AS (${inner})`,
      `events AS (${inner})`,
      `(${this.#scalar()}) AS y`,
      `(a) -> ${this.#call('a')} AS f`,
      `RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3)`,
    ]);
  }

  #projection(): string {
    const items = Array.from({ length: 1 + this.#random.below(3) }, () => this.#item());
    return items.join(', ');
  }

  #item(): string {
    return this.#pick([
      () => this.#pick(columns),
      () => this.#pick(columns),
      () => this.#pick(aggregates),
      () => this.#expression(),
      () => `${this.#expression()} AS ${this.#alias()}`,
      () => `* APPLY ${this.#pick(this.#words.functions)}`,
      () => `* EXCEPT('k.*') REPLACE(${this.#expression()} AS kind)`,
      () => `COLUMNS('${this.#pick(['k', '.*', 'a\\n  JOIN TREE'])}')`,
      () => `row_number() OVER (ORDER BY ${this.#expression()})`,
    ])();
  }

  #alias(): string {
    return this.#pick([
      'a',
      '`b c`',
      '"x, identifier: events"',
      '`n\\nQUERY id: 0`',
      'system',
      'settings',
      '"a.b"',
    ]);
  }

  #expression(): string {
    return this.#deeper(
      () =>
        this.#pick([
          () => this.#pick(columns),
          () => this.#literal(),
          () => this.#call(this.#expression()),
          () => this.#call(this.#expression()),
          () => `(${this.#scalar()})`,
          () => `arrayMap(x -> ${this.#call('x')}, ['${this.#prey.secretFile}'])`,
          () => `CASE WHEN ${this.#condition()} THEN 1 ELSE ${this.#expression()} END`,
          () => `CAST(${this.#expression()} AS String)`,
          () => `${this.#expression()}::String`,
          () => `multiIf(${this.#condition()}, 1, 2)`,
          () => `countIf(${this.#condition()})`,
          () => `@@${this.#pick(this.#words.settings)}`,
        ])(),
      () => this.#literal(),
    );
  }

  #literal(): string {
    const { secretFile, otherProject } = this.#prey;
    return this.#pick([
      '1',
      "'a'",
      'NULL',
      `'${secretFile}'`,
      `'${otherProject}'`,
      "'it\\'s'",
      '$$t$$',
      '[1, 2]',
      "'a\n  JOIN TREE'",
    ]);
  }

  #call(argument: string): string {
    const { functions } = this.#words;
    const name = this.#one(2) ? this.#pick(plainCalls) : this.#pick(functions);
    return this.#pick([
      `${name}(${argument})`,
      `${name}('${this.#prey.secretFile}')`,
      `${name}(${argument}, ${this.#literal()})`,
      `\`${name}\`(${argument})`,
      `${name}()`,
      `file('${this.#prey.secretFile}')`,
    ]);
  }

  #condition(): string {
    return this.#pick([
      () => `${this.#expression()} = ${this.#expression()}`,
      () =>
        `kind IN (${this.#deeper(
          () => this.#query(),
          () => 'SELECT 1',
        )})`,
      () => `${this.#expression()} IN ${this.#hostile.table()}`,
      () =>
        `${this.#expression()} GLOBAL IN ${this.#hostile.tableFunction(
          () => this.#expression(),
          () => this.#literal(),
        )}`,
      () =>
        `EXISTS(${this.#deeper(
          () => this.#query(),
          () => 'SELECT 1',
        )})`,
      () => `kind LIKE ${this.#literal()} OR 1`,
      () => `project_id = '${this.#prey.otherProject}'`,
    ])();
  }

  #scalar(): string {
    return this.#deeper(
      () => `SELECT ${this.#expression()} FROM ${this.#source()} LIMIT 1`,
      () => 'SELECT 1',
    );
  }

  #source(): string {
    const one = this.#deeper(
      () =>
        this.#pick([
          () => this.#pick(views),
          () => this.#pick(views),
          () => this.#pick(views),
          () => this.#hostile.table(),
          () => `(${this.#query()})`,
          () =>
            this.#hostile.tableFunction(
              () => this.#expression(),
              () => this.#literal(),
            ),
        ])(),
      () => 'events',
    );
    const named = this.#one(5) ? `${one} AS ${this.#alias()}` : one;
    if (this.#one(15)) return `${named} FINAL`;
    if (!this.#one(7) || this.#depth > 2) return named;
    const kind = this.#pick(['JOIN', 'LEFT JOIN', 'ASOF JOIN', 'CROSS JOIN', 'PASTE JOIN', ',']);
    const on = this.#pick(['ON 1 = 1', 'USING (kind)', `ON ${this.#condition()}`, '']);
    return `${named} ${kind} ${this.#source()} ${kind === ',' ? '' : on}`;
  }

  #order(): string {
    return this.#pick([
      this.#expression(),
      '1 DESC',
      'ALL',
      `1 WITH FILL FROM ${this.#expression()} TO 3 INTERPOLATE (kind AS ${this.#expression()})`,
    ]);
  }
}
