// Finds the kind of a statement, and puts the engine's file clauses into its text: results leave through INTO OUTFILE,
// inserted data arrives through FROM INFILE. Everything else in the text is left to the engine.

import { type Token, tokenize } from '../../../platform/clickhouse/statement-tokens.ts';
import { EngineError } from '../errors.ts';
import { quoteString } from './parameters.ts';
import { type RefusedNames, refuseReach } from './reach.ts';

export type Statement =
  /** A statement with a result; `into` gives the text that writes the result to a file. */
  | { kind: 'read'; into: (path: string) => string }
  /** An insert of data in a FORMAT; `from` gives the text that reads it from a file, `inline` is data in the text. */
  | { kind: 'insert'; inline: string; from: (path: string) => string }
  | { kind: 'command'; sql: string };

const readWords = new Set(
  'SELECT WITH FROM ( SHOW DESCRIBE DESC EXISTS EXPLAIN CHECK VALUES'.split(' '),
);
const sessionWords = new Set('SET USE BEGIN COMMIT ROLLBACK'.split(' '));

/**
 * Reads `sql`, with its parameters already bound. `defaultFormat` serves a result that names no format. Throws
 * EngineError for statements that a server refuses over HTTP (about its own files, or several in one text), for
 * statements whose effect would outlive their request, and for those that reach beyond tables (reach.ts).
 */
export function readStatement(
  sql: string,
  defaultFormat: string,
  refused: RefusedNames,
): Statement {
  const all = tokenize(sql);
  const tokens = all.slice(0, endOfStatement(all));
  const words = tokens.filter((token) => token.depth === 0);
  const first = words[0]?.value ?? '';
  if (first === '') throw new EngineError(62, 'SYNTAX_ERROR', 'Syntax error: Empty query');
  refuseSessionState(words);
  refuseFiles(tokens);
  const inserts = first === 'INSERT' || (first === 'WITH' && words.some(isInsert));
  if (inserts) return readInsert(sql, tokens, words, refused);
  refuseSeveral(sql, tokens);
  refuseReach(sql, tokens, refused);
  if (readWords.has(first)) return readResult(sql, words, defaultFormat);
  return { kind: 'command', sql };
}

// A trailing semicolon ends the statement.
function endOfStatement(tokens: readonly Token[]): number {
  let end = tokens.length;
  while (end > 0 && tokens[end - 1]?.value === ';') end--;
  return end;
}

function refuseSessionState(words: readonly Token[]): void {
  const temporary = words[0]?.value === 'CREATE' && words[1]?.value === 'TEMPORARY';
  if (!temporary && !sessionWords.has(words[0]?.value ?? '')) return;
  const name = temporary ? 'CREATE TEMPORARY' : words[0]?.value;
  throw notImplemented(`${name} needs a session, and there are none: pass settings with the query`);
}

// The engine would run all statements and answer the last, even where one changes its settings or, in a GET, a table.
function refuseSeveral(sql: string, tokens: readonly Token[]): void {
  if (!tokens.some(({ value }) => value === ';') && !hasRowsThatEnd(sql, tokens)) return;
  throw new EngineError(62, 'SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed)');
}

const nestedComment = /\/\*(?:(?!\*\/).)*?\/\*/s;

// Whether the engine may take the text after the rows for a statement: it ends the rows of a FORMAT at an empty line,
// and comments among the rows of VALUES do not nest.
function hasRowsThatEnd(sql: string, tokens: readonly Token[]): boolean {
  const insert = tokens.findIndex(isInsert);
  const rows = tokens.findIndex(
    ({ value, depth }, index) =>
      index > insert && depth === 0 && (value === 'VALUES' || value === 'FORMAT'),
  );
  if (insert === -1 || rows === -1) return false;
  const emptyLine = sql.trimEnd().lastIndexOf('\n\n');
  return tokens.slice(rows).some(({ value, depth, end }, index, after) => {
    const next = after[index + 1];
    if (nestedComment.test(sql.slice(end, next?.start))) return true;
    // A column may be called format.
    const isFormat = value === 'FORMAT' && (next?.kind === 'word' || next?.kind === 'name');
    return isFormat && depth === 0 && next.end <= emptyLine;
  });
}

function isInsert({ value }: Token, index: number, tokens: readonly Token[]): boolean {
  return value === 'INSERT' && tokens[index + 1]?.value === 'INTO';
}

function refuseFiles(tokens: readonly Token[]): void {
  const names = tokens.some(
    ({ value }, index) =>
      (value === 'OUTFILE' && tokens[index - 1]?.value === 'INTO') ||
      (value === 'INFILE' && tokens[index - 1]?.value === 'FROM'),
  );
  if (names) throw notImplemented('files cannot be named over HTTP: send or take the data');
}

function notImplemented(message: string): EngineError {
  return new EngineError(48, 'NOT_IMPLEMENTED', message);
}

function readResult(sql: string, words: readonly Token[], defaultFormat: string): Statement {
  const format = words.findLastIndex(
    (token, index) => token.value === 'FORMAT' && words[index + 1]?.kind === 'word',
  );
  // A column, or the statement of an EXPLAIN, may be called format. The clause is last, except for SETTINGS.
  const follower = words[format + 2]?.value;
  const named = format > 0 && (follower === undefined || follower === 'SETTINGS');
  const at = (named ? words[format]?.start : words.at(-1)?.end) ?? sql.length;
  const before = sql.slice(0, at);
  const after = named ? sql.slice(at) : `FORMAT ${defaultFormat}`;
  return {
    kind: 'read',
    into: (path) =>
      `${before}\nINTO OUTFILE ${quoteString(path)} APPEND COMPRESSION 'none' ${after}`,
  };
}

function readInsert(
  sql: string,
  tokens: readonly Token[],
  words: readonly Token[],
  refused: RefusedNames,
): Statement {
  const source = words.find(({ value }) => ['SELECT', 'WITH', 'VALUES', 'FORMAT'].includes(value));
  const format = words.find((token) => token === source && token.value === 'FORMAT');
  const name = tokens[format === undefined ? -1 : tokens.indexOf(format) + 1];
  const isCommand = format === undefined || name === undefined;
  // The text's own data may hold semicolons.
  const own = isCommand ? tokens : tokens.slice(0, tokens.indexOf(format));
  refuseSeveral(sql, own);
  refuseReach(sql, own, refused);
  if (isCommand) return { kind: 'command', sql };
  const settings = words.find(({ value, start }) => value === 'SETTINGS' && start < format.start);
  const at = (settings ?? format).start;
  const before = sql.slice(0, at);
  const after = sql.slice(at, name.end);
  return {
    kind: 'insert',
    inline: sql.slice(name.end).replace(/^[ \t]*;?\s*/, ''),
    from: (path) => `${before}FROM INFILE ${quoteString(path)} COMPRESSION 'none' ${after}`,
  };
}
