// The form that the migrations' statements have where a group's servers replicate their tables: the same tables with
// replicated engines, in a database that carries each statement to all servers. sql/README.md has the reasons.

/** A promised batch may be repeated after a long outage: its token is known for a year, by default for a week. */
const tokenSeconds = 31_536_000;

const createsTable = /^(?:\s|--.*\n)*CREATE TABLE /;
const engine = /(?<=\bENGINE = )(?=\w*MergeTree\b)/;
const plainWindow = 'non_replicated_deduplication_window';
const window = 'replicated_deduplication_window';

/** `statement` may also be one that needs no other form; that comes back as it is. */
export function replicatedForm(statement: string): string {
  if (!createsTable.test(statement)) return statement;
  if (!engine.test(statement)) throw new Error(`sql: no engine is known for ${statement}`);
  const replicated = statement.replace(engine, 'Replicated');
  const known = `${window}_seconds = ${tokenSeconds}`;
  if (replicated.includes(plainWindow)) {
    return replicated.replace(plainWindow, `${known}, ${window}`);
  }
  // A plain table without a window takes equal rows twice, and so must this one.
  const hasSettings = /\bSETTINGS\b/.test(replicated);
  return `${replicated}${hasSettings ? ',' : ' SETTINGS'} ${window} = 0`;
}

/** Names the same database of all servers of a group, and of no other group, in their Keeper. */
export function replicatedDatabase(database: string, place: number): string {
  if (/['\\]/.test(database)) throw new Error(`${database} cannot be the name of a database`);
  const path = `/millrace/${database}/group_${place + 1}`;
  return `CREATE DATABASE IF NOT EXISTS {name:Identifier} ENGINE = Replicated('${path}', 'millrace', '{replica}')`;
}

/** An engine as `system.tables` tells it: a Replicated database takes none that names its place in Keeper. */
export function withoutKeeperPath(engineFull: string): string {
  return engineFull.replace(/^(Replicated\w+)\('[^']*', '[^']*'(?:, )?/, '$1(');
}

/** The deduplication window of an engine as `system.tables` tells it; undefined where it has none. */
export function windowOf(engineFull: string): { name: string; tokens: string } | undefined {
  const [, name, tokens] =
    /\b((?:non_)?replicated_deduplication_window) = (\d+)/.exec(engineFull) ?? [];
  return name === undefined || tokens === undefined ? undefined : { name, tokens };
}
